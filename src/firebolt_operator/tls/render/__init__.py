"""What TLS looks like: certificates, the trust bundle, and the sockets of engines and Envoy. Pure."""
