"""What each storage promises and can decode, and what its fire would cost."""
