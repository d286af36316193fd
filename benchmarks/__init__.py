"""What Memlane claims about speed, memory and quality, each with the command that shows it."""
