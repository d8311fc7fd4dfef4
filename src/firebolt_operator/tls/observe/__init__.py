"""What is there of TLS: certificates, CAs, the engines that speak it, and what the gateway was given."""
