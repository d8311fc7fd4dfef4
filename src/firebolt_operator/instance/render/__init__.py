"""What an instance's database and metadata service look like. Pure."""
