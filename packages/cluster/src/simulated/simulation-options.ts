/** What a simulated cluster is made of. */
import type { KubernetesObject } from '@gyropilot/api'
import type { RuntimeConfig } from '@gyropilot/api-server'
import type { ControllersConfiguration } from '@gyropilot/controllers'
import type { CloudProvider } from '@gyropilot/cloud-provider'
import type { Clock, Logger } from '@gyropilot/foundation'
import type { FaultInjector } from '../faults/injector.ts'
import type { Latency } from './network.ts'
import type { ManagerVersions } from './programs.ts'

/** What a simulated cluster has. */
export interface SimulationOptions {
  readonly seed: string | number
  /** Simulated nodes. Default 3; with 0 there is no scheduler either, and pods stay pending. */
  readonly nodes?: number
  /** The storage driver and its class `standard`, where there are nodes. Default true. */
  readonly storage?: boolean
  /** Controller managers, of which one leads. Default 1. */
  readonly managers?: number
  /**
   * The server chooses the leader: the versions of the first manager, of the second, ...; one without takes the lease by
   * itself. Needs `{ 'coordination.k8s.io/v1beta1': true }` as `runtimeConfig`.
   */
  readonly coordinatedElection?: readonly ManagerVersions[]
  /** As kube-apiserver's --runtime-config. */
  readonly runtimeConfig?: RuntimeConfig
  /** There is a cloud, and a cloud-controller-manager: nodes wait to be initialised. Default false. */
  readonly cloud?: boolean
  /** The same with a cloud of your own, which is made here: on the cluster's clock. */
  readonly cloudProvider?: (clock: Clock) => CloudProvider
  /** There before any process starts. Default: nothing beyond what every cluster has. */
  readonly installed?: readonly KubernetesObject[]
  /** As --controllers. Default `*`. */
  readonly controllers?: readonly string[]
  /** Of the server and of controllers, where they differ from the defaults of 1.36. */
  readonly featureGates?: Readonly<Record<string, boolean>>
  /** Settings of controllers that differ from the defaults. */
  readonly configuration?: Partial<ControllersConfiguration>
  readonly injector?: FaultInjector
  /** Of each request and each answer. Default 0.2 to 2 ms. */
  readonly latency?: Latency
  /** How long a process that ended is down. Default 1 s. */
  readonly restartDelayMs?: number
  readonly logger?: Logger
  /** Keep every line of the history, for finding where two of them part. */
  readonly keepHistory?: boolean
}
