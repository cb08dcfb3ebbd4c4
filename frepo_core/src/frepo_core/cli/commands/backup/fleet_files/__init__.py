"""The files of `fleet:create`: the hosts that it reads, and the tokens that it makes."""
