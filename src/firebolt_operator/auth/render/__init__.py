"""What authentication looks like: signing certificates, and the part of an engine that asks for tokens. Pure."""
