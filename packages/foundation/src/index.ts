export { anySignal, untilAborted, withDeadline } from './abort.ts'
export type { ScopedSignal } from './abort.ts'
export { parseAccept } from './accept.ts'
export type { AcceptClause } from './accept.ts'
export { LONG_TURN_MS, TURN_MS, every, formatMicroTime, formatTime, sleep } from './clock.ts'
export type { Clock, Timer } from './clock.ts'
export { closestTo, suggestion, suggestionOf } from './closest.ts'
export { firstIndexWhere } from './binary-search.ts'
export { byString, compareStrings } from './compare.ts'
export { metricsContentType } from './metrics-content-type.ts'
export { COMPONENT_PAGE_VERSIONS, flagsPage, statusPage } from './component-pages.ts'
export type { ComponentPage, ComponentStatus } from './component-pages.ts'
export { deepFreeze } from './deep-freeze.ts'
export { Fifo } from './fifo.ts'
export { defineErrors, mergeCatalogues } from './error-catalogue.ts'
export type { ErrorCatalogue, ErrorEntry } from './error-catalogue.ts'
export {
  GyropilotError,
  aggregateErrors,
  aggregateText,
  errorMessage,
  errorText,
} from './errors.ts'
export type { GyropilotErrorOptions } from './errors.ts'
export { formatGoDuration, goDurationNanos, parseGoDuration } from './go-duration.ts'
export {
  CERTIFICATE_LIFETIME_BUCKETS_SECONDS,
  DECISION_BUCKETS_SECONDS,
  countedUserName,
} from './access-metrics.ts'
export { MICRO_TIME_LAYOUT, TIME_LAYOUT, formatGoTime, parseGoTime } from './go-time.ts'
export type { GoTime } from './go-time.ts'
export { headerOfText, textOfHeader } from './header-text.ts'
export { Heap } from './heap.ts'
export { FileError } from './host-environment.ts'
export type { CommandRequest, CommandResult, HostEnvironment } from './host-environment.ts'
export { jsonLogger, klogLine, klogLogger } from './klog.ts'
export type { LoggerOptions } from './klog.ts'
export { silentLogger } from './logging.ts'
export type { LogFields, Logger } from './logging.ts'
export type {
  Counter,
  Gauge,
  Histogram,
  HistogramOptions,
  Labels,
  MetricOptions,
  MetricsRegistry,
  Observer,
  StabilityLevel,
} from './metrics.ts'
export { PrometheusRegistry, goFloat } from './metrics-registry.ts'
export { isPretty } from './pretty.ts'
export { SeededRandom, hexDigits, integerBetween, jitter, uuid } from './random.ts'
export type { RandomSource } from './random.ts'
export { silentMetrics } from './metrics.ts'
export { RingBuffer } from './ring-buffer.ts'
export { drained } from './system/drained.ts'
export { exposeEventLoopMetrics } from './system/event-loop-metrics.ts'
export { exposeProcessMetrics, exposeProcessStart } from './system/process-metrics.ts'
export { promiseSettler, settle } from './system/settle.ts'
export { fileProblem } from './system/file-problem.ts'
export { refusePlainHttp } from './system/plain-http.ts'
export { makeDirectory } from './system/make-directory.ts'
export { tolerateLostOutput } from './system/standard-output.ts'
export { SystemClock } from './system/system-clock.ts'
export { SystemHost } from './system/system-host.ts'
export { SystemRandom } from './system/system-random.ts'
export { TurnGate } from './turn-gate.ts'
export { VirtualClock } from './virtual-clock.ts'
export type { VirtualClockOptions } from './virtual-clock.ts'
export { hashOfText, mixedHash } from './text-hash.ts'
export { TextTable } from './text-table.ts'
