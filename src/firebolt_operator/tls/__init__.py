"""TLS of engines and of the gateway: certificates, whom the gateway trusts, and when a listener may change."""
