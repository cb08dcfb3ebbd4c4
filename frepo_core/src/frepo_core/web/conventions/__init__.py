"""What all endpoints of the second API share: models, validation, errors, pages, ETags, merge patches and CORS."""
