"""Apache Spark as an engine. Nothing of pyspark is imported before an engine is made."""

from ldiversity.engines.spark._engine import SparkEngine
from ldiversity.engines.spark._source import SparkSource

__all__ = ["SparkEngine", "SparkSource"]
