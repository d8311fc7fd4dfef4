"""What is wrong with an object, asked by admission and by reconcilers alike. Pure."""
