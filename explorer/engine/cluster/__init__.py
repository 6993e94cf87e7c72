"""A Ray cluster behind the pages: the front keeps visitors, runs and answers, and the cluster's machines compute with torch."""

from explorer.settings import no_usage_statistics

no_usage_statistics()  # here, since whatever imports ray is below
