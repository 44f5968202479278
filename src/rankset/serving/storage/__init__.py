"""What a server remembers, and a new rule from it. It works without the server, of which it imports nothing.

store          Store: predictions and labels, in SQLite or PostgreSQL
rows           Prediction, Feedback and Labelled, and how they are written as bytes
recalibration  recalibrate: a new rule from labels that came back
fed_back       FedBack: the rows of it, and how many have no label
tables         the tables of a store
about          what a store is for: its format, and the rule whose rows it holds
database       what a store needs of its database: sqlite and postgres
writer         the one thread that writes; what has come since the last commit is committed together
pieces         what is committed together, and how it is divided where a commit would be too large
labelling      labels of one call: new, repeated or unknown
reading        rows in their order, read in parts
limits         how old and how large a store may be, and which rows are dropped first
bounds         the age and the size that the last server was told; store_facts shows all of a file

Importing this package needs no other package; its modules but ``rows`` need SQLAlchemy.
"""
