"""Retrieval quality on outside data sets, through the pipeline that users have.

sets            a folder of data sets with its own evaluator, and the day a question is asked on
configurations  what is compared: settings by name
runs            a set laid out, indexed, and asked under each configuration
folds           the spread of a measure over groups of questions (pure)
abstention      how well unanswerable questions are told (pure)
table           one table, as Markdown and as TSV (pure)
"""
