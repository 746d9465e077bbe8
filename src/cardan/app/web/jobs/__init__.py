"""Work in processes of its own: what is asked, how it is answered."""
