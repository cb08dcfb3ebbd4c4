"""The files of `fleet:create`: the hosts that it reads, and the tokens and codes that it makes."""
