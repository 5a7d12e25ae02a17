import type { KubernetesObject } from '@gyropilot/api'
import type { ControllersConfiguration } from '@gyropilot/controllers'
import type { SimulatedCluster } from '../simulated/simulated-cluster.ts'
import type { SimulationOptions } from '../simulated/simulation-options.ts'

/**
 * A small story of a user and a cluster. Its end must be the same whatever goes wrong on the way: what every cluster must
 * come to is checked by itself, what only this one must come to is said by `ends`.
 */
export interface Scenario {
  readonly name: string
  /** The controllers it is about. All of them run. */
  readonly controllers: readonly string[]
  /** Those of them that run only when --controllers names them. */
  readonly optional?: readonly string[]
  /** In the cluster before any process starts. */
  readonly installed?: readonly KubernetesObject[]
  /** Default 1. */
  readonly nodes?: number
  /** There is a cloud. Default false. */
  readonly cloud?: boolean
  /** Controller managers. Default 1. */
  readonly managers?: number
  /** Settings of controllers that differ from the defaults. */
  readonly configuration?: Partial<ControllersConfiguration>
  /** Gates that are not at their defaults. */
  readonly featureGates?: Readonly<Record<string, boolean>>
  /** Versions that the server serves beyond its default. */
  readonly runtimeConfig?: SimulationOptions['runtimeConfig']
  /** The process whose writes, reads and events `explore` disturbs. Default: the controller manager. */
  readonly subject?: string
  /** Before anything goes wrong: starts processes of your own, installs what they need. */
  prepare?(cluster: SimulatedCluster): Promise<void> | void
  play(cluster: SimulatedCluster): Promise<void>
  /** Problems, in words. */
  ends?(cluster: SimulatedCluster): Iterable<string>
}

/** What the cluster of a scenario is made of, but for its seed. */
export function clusterOf(scenario: Scenario): Omit<SimulationOptions, 'seed'> {
  const { nodes = 1, managers = 1, configuration = {}, featureGates = {} } = scenario
  const { cloud, optional = [], installed = [], runtimeConfig } = scenario
  const controllers = ['*', ...optional]
  return {
    nodes,
    managers,
    cloud,
    controllers,
    installed,
    runtimeConfig,
    configuration,
    featureGates,
  }
}
