"""What is handed to operators: the wheel, the image, the compose file and the unit, without their engines."""
