"""What every part of the web application uses: the request, its context, and the declaration of an endpoint."""
