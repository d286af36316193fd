"""Speed and memory of whole processes, beside the limits of the machine measured in the same run."""
