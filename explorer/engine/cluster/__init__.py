"""A Ray cluster behind the pages: the front keeps visitors, runs and answers, and torch works on the other side."""
