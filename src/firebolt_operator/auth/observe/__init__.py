"""What is there of an instance's authentication: keys, passwords by their names, and the engines that hold keys."""
