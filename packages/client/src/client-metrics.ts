import type { Counter, Histogram, MetricsRegistry } from '@gyropilot/foundation'

const LATENCY_BUCKETS_SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60]
const SIZE_BUCKETS_BYTES = [
  64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216,
]

export interface ClientMetrics {
  readonly requests: Counter
  readonly durationSeconds: Histogram
  readonly rateLimiterSeconds: Histogram
  readonly requestBytes: Histogram
  readonly responseBytes: Histogram
  readonly retries: Counter
}

/** The `rest_client_*` families of requests. */
export function clientMetrics(registry: MetricsRegistry): ClientMetrics {
  const labels = ['verb', 'host']
  return {
    requests: registry.counter({
      name: 'rest_client_requests_total',
      help: 'Number of HTTP requests, partitioned by status code, method, and host.',
      labels: ['code', 'host', 'method'],
    }),
    durationSeconds: registry.histogram({
      name: 'rest_client_request_duration_seconds',
      help: 'Request latency in seconds. Broken down by verb, and host.',
      labels,
      buckets: LATENCY_BUCKETS_SECONDS,
    }),
    rateLimiterSeconds: registry.histogram({
      name: 'rest_client_rate_limiter_duration_seconds',
      help: 'Client side rate limiter latency in seconds. Broken down by verb, and host.',
      labels,
      buckets: LATENCY_BUCKETS_SECONDS,
    }),
    requestBytes: registry.histogram({
      name: 'rest_client_request_size_bytes',
      help: 'Request size in bytes. Broken down by verb and host.',
      labels,
      buckets: SIZE_BUCKETS_BYTES,
    }),
    responseBytes: registry.histogram({
      name: 'rest_client_response_size_bytes',
      help: 'Response size in bytes. Broken down by verb and host.',
      labels,
      buckets: SIZE_BUCKETS_BYTES,
    }),
    retries: registry.counter({
      name: 'rest_client_request_retries_total',
      help: 'Number of request retries, partitioned by status code, verb, and host.',
      labels: ['code', 'host', 'verb'],
    }),
  }
}
