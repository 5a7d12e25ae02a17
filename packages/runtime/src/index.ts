export * from './controller.ts'
export * from './effects.ts'
export * from './writes.ts'
export { InterruptedByShutdown, interpret, perform } from './effects-interpreter.ts'
export type { PerformOutside, World } from './effects-interpreter.ts'
export { SharedReads } from './shared-reads.ts'
export { EventBroadcaster } from './events/event-broadcaster.ts'
export type { EventBroadcasterOptions } from './events/event-broadcaster.ts'
export { SeriesBroadcaster } from './events/series-broadcaster.ts'
export type {
  SeriesBroadcasterOptions,
  SeriesEventRecord,
  SeriesEventRecorder,
} from './events/series-broadcaster.ts'
export type { EventRecorder } from './events/event-recorder.ts'
export { LruCache } from './events/lru-cache.ts'
export { EXPECTATIONS_TIMEOUT_MS, createExpectations } from './expectations.ts'
export type { Expectations } from './expectations.ts'
export * from './informer.ts'
export { runKeyedController } from './keyed-controller.ts'
export type { RunnableKeyedController } from './keyed-controller.ts'
export { runPeriodicController } from './periodic-controller.ts'
export type { PeriodicController } from './periodic-controller.ts'
export { SharedInformerFactory } from './cache/informer-factory.ts'
export type { InformerFactoryOptions } from './cache/informer-factory.ts'
export { WholeOrMetadataInformers } from './cache/whole-or-metadata.ts'
export { informerMetrics } from './cache/informer-metrics.ts'
export { informerSwitches } from './cache/informer-switches.ts'
export type { InformerSwitches } from './cache/informer-switches.ts'
export { MutationDetector } from './cache/mutation-detector.ts'
export type { MutationDetectorOptions } from './cache/mutation-detector.ts'
export { SharedInformer } from './cache/shared-informer.ts'
export type { FirstList } from './cache/reflector/reflector.ts'
export type { SpecText, SpecTextOf } from './cache/known-specs.ts'
export type { SharedInformerOptions } from './cache/shared-informer-options.ts'
export { NAMESPACE_INDEX, Store } from './cache/store.ts'
export { getOrNotFound, listMatching, notFound } from './cache/lister.ts'
export { fencedClient } from './leader-election/fenced-client.ts'
export { LeaderElectionHealthCheck } from './leader-election/health-check.ts'
export { LeaderElector } from './leader-election/leader-elector.ts'
export { timingProblem } from './leader-election/elector-options.ts'
export type {
  ElectionTiming,
  LeaderCallbacks,
  LeaderElectorOptions,
} from './leader-election/elector-options.ts'
export { LeaseLock, checkLockType } from './leader-election/lease-lock.ts'
export type { LeaseLockOptions } from './leader-election/lease-lock.ts'
export { LeaseCandidate } from './leader-election/lease-candidate.ts'
export type { LeaseCandidateOptions } from './leader-election/lease-candidate.ts'
export { compareResourceVersions, isResourceVersion } from './resource-versions.ts'
export { inSlowStart } from './slow-start.ts'
export { StaleCacheError, StaleCacheGuard } from './stale-cache-guard.ts'
export type { StaleSyncMetric } from './stale-cache-guard.ts'
export { inTurns, yieldIfLong } from './turn.ts'
export { runWorkers } from './workers.ts'
export { DelayingQueue } from './workqueue/delaying-queue.ts'
export { KeyedBackoff } from './workqueue/keyed-backoff.ts'
export { parallelize } from './workqueue/parallelize.ts'
export { WorkQueue } from './workqueue/queue.ts'
export type { QueueItem, WorkQueueOptions } from './workqueue/queue.ts'
export { sequenceMetrics } from './workqueue/queue-metrics.ts'
export type { SequenceMetrics } from './workqueue/queue-metrics.ts'
export type { RateLimiter } from './workqueue/rate-limiter.ts'
export * from './workqueue/rate-limiters.ts'
export { RateLimitingQueue } from './workqueue/rate-limiting-queue.ts'
export type { RateLimitingQueueOptions } from './workqueue/rate-limiting-queue.ts'
export { buildController } from './builder/controller-builder.ts'
export type {
  BuilderManager,
  ControllerBuilder,
  OwnsOptions,
  WatchOptions,
} from './builder/controller-builder.ts'
export type { ControllerOptions } from './builder/controller-options.ts'
export { controllerErrors } from './builder/errors.ts'
export { enqueueMapped, enqueueObject, enqueueOwner } from './builder/event-handlers.ts'
export type {
  CreateEvent,
  DeleteEvent,
  GenericEvent,
  MapToRequests,
  UpdateEvent,
  WatchHandler,
} from './builder/event-handlers.ts'
export * as predicates from './builder/predicates.ts'
export type { Predicate } from './builder/predicates.ts'
export { ReconcileLoop } from './builder/reconcile-loop.ts'
export type { ControllerDefinition, ControllerEnvironment } from './builder/reconcile-loop.ts'
export { PanicError, TerminalError, isTerminal } from './builder/reconciler.ts'
export type { ReconcileContext, Reconciler, Result } from './builder/reconciler.ts'
export { keyOfRequest, requestFor, requestOfKey } from './builder/request.ts'
export type { Request } from './builder/request.ts'
export type { KeyQueue, RequestQueue } from './builder/request-queue.ts'
export { reconcileByRules } from './builder/rules.ts'
export type { Rules, RulesOptions } from './builder/rules.ts'
export { EventChannel, LOW_PRIORITY, channelSource, informerSource } from './builder/sources.ts'
export type { Source } from './builder/sources.ts'
export { connect } from './controller-manager/connect.ts'
export type { ConnectOptions, Connection } from './controller-manager/connect.ts'
export { ControllerManager } from './controller-manager/controller-manager.ts'
export type { ControllerManagerOptions } from './controller-manager/controller-manager.ts'
export { HealthChecks } from './controller-manager/health-checks.ts'
export type { HealthCheck, HttpAnswer } from './controller-manager/health-checks.ts'
export type { LeaderElectionOptions } from './controller-manager/leader-election.ts'
export type { Runnable } from './controller-manager/runnable.ts'
export { stopSignal } from './controller-manager/stop-signals.ts'
export { defineResource, definitionOf } from './custom-resources/define-resource.ts'
export type {
  CustomResource,
  DefinitionOptions,
  OtherVersionOptions,
  ResourceDefinition,
  VersionOptions,
} from './custom-resources/define-resource.ts'
export { installDefinition } from './custom-resources/install-definition.ts'
export type { InstallOptions } from './custom-resources/install-definition.ts'
export { CachedClient, withSignal } from './object-cache/cached-client.ts'
export type { CachedClientOptions } from './object-cache/cached-client.ts'
export type {
  CacheScope,
  NamespaceScopes,
  ObjectCacheOptions,
  ReadMode,
  TypeScope,
} from './object-cache/cache-options.ts'
export { ObjectCache } from './object-cache/object-cache.ts'
export { unstructured } from './object-cache/unstructured.ts'
export type { UnstructuredType } from './object-cache/unstructured.ts'
export { applyObject, extractApplied } from './object-writes/apply.ts'
export type { ApplyConfiguration, ApplyOptions } from './object-writes/apply.ts'
export { createOrPatch, createOrUpdate } from './object-writes/create-or-update.ts'
export type { Identified, WriteOperation, Written } from './object-writes/create-or-update.ts'
export { draftOf } from './object-writes/draft.ts'
export type { Draft, Mutate } from './object-writes/draft.ts'
export { FinalizerRegistry } from './object-writes/finalizer-registry.ts'
export type { Finalize, Finalized } from './object-writes/finalizer-registry.ts'
export {
  AlreadyOwnedError,
  hasControllerReference,
  hasOwner,
  withControllerReference,
  withOwner,
  withoutControllerReference,
  withoutOwner,
} from './object-writes/owner-references.ts'
export type { OwnerReferenceOptions } from './object-writes/owner-references.ts'
export { PriorityQueue } from './workqueue/priority-queue.ts'
export type {
  AddOptions,
  PrioritizedItem,
  PriorityQueueOptions,
} from './workqueue/priority-queue.ts'
export type { QueueOrder } from './workqueue/queue.ts'
export { httpServer } from './system/http-server.ts'
export type { HttpRequest, HttpServer, HttpServerOptions } from './system/http-server.ts'
export { admissionWebhook } from './webhooks/admission.ts'
export type { AdmissionRequest, Admit } from './webhooks/admission.ts'
export { conversionWebhook } from './webhooks/conversion.ts'
export type { Convert } from './webhooks/conversion.ts'
export { webhooksByPath } from './webhooks/webhooks.ts'
export type { Webhook } from './webhooks/webhooks.ts'
