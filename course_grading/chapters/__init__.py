"""The exercises of each chapter: what is asked, what is right, and what people get wrong."""
