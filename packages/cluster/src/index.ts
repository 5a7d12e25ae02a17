export { Cluster } from './cluster.ts'
export type { ClusterOptions } from './cluster.ts'
export { ADMINISTRATOR, randomToken } from './identities.ts'
export type { Audit, AuditEntry } from './in-process-connection.ts'
export { Parts } from './parts.ts'
export type { Connection, PartIdentity, PartsOptions, RunningPart } from './parts.ts'
export { nodeIpam } from './pod-ranges.ts'
export { createCluster, SimulatedCluster } from './simulated/simulated-cluster.ts'
export type { ClusterObserver } from './simulated/cluster-observer.ts'
export type { ManagerVersions } from './simulated/programs.ts'
export type { SimulationOptions } from './simulated/simulation-options.ts'
export { endStateRules } from './checkers/end-state.ts'
export type { EndStateRule } from './checkers/end-state.ts'
export type { Violation } from './checkers/violation.ts'
export { Watchdog } from './checkers/watchdog.ts'
export type { RestOptions } from './checkers/watchdog.ts'
export { DISTURBANCES, explore, playOnce, shotOf } from './explore/explore.ts'
export type {
  Disturbance,
  ExploreOptions,
  ScenarioReport,
  ScheduleFailure,
} from './explore/explore.ts'
export { noFaults } from './faults/injector.ts'
export type { EventFacts, EventFault, FaultInjector, RequestFault } from './faults/injector.ts'
export { OneShotFault } from './faults/one-shot.ts'
export type { OneShot, Stage } from './faults/one-shot.ts'
export { RandomFaults } from './faults/random-faults.ts'
export { FAULT_KINDS, NO_FAULTS, scaled } from './faults/rates.ts'
export type { FaultKind, FaultRates } from './faults/rates.ts'
export { entryText, isFault, isOperation } from './faults/schedule.ts'
export type {
  Schedule,
  ScheduledFault,
  ScheduledOperation,
  ScheduleEntry,
} from './faults/schedule.ts'
export { ScheduledFaults } from './faults/scheduled-faults.ts'
export { strike } from './faults/world-fault.ts'
export type { WorldFault } from './faults/world-fault.ts'
export { RandomUser } from './model/random-user.ts'
export { scenarios } from './scenarios/index.ts'
export type { Scenario } from './scenarios/index.ts'
export { simulate } from './simulate.ts'
export type { Progress, SimulationOutcome, SimulationRun } from './simulate.ts'
export { shrink } from './shrink/shrink.ts'
export type { ShrinkOptions, ShrunkRun } from './shrink/shrink.ts'
export type { Incarnation, Program, SimulatedProcess } from './simulated/process.ts'
export type { RequestFacts } from './simulated/request-facts.ts'
