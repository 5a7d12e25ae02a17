/** What the managers differ in; the rest of a run is the same for all of them. */
import type { Client, RestConfig } from '@gyropilot/client'
import type { ControllersConfiguration } from '@gyropilot/controllers'
import type { ControllerDescriptor, InformerFactory } from '@gyropilot/runtime'
import type { AppWorld } from './app-world.ts'
import type { KnownController } from './controller-names.ts'
import type { FlagGroup } from './flags/flag-group.ts'
import type { FlagDefinition } from './flags/pflag.ts'
import type { LeaderMigration } from './election/leader-migration.ts'
import type { Options } from './options/options.ts'

export type Descriptors = readonly ControllerDescriptor<ControllersConfiguration>[]

export interface Program {
  /** `kube-controller-manager`: in user agents, events, certificates, leases and migration files. */
  readonly name: string
  /** What it is for, in lines: begins --help. */
  readonly introduction: string
  /** In the order of --help. */
  readonly flagGroups: readonly FlagGroup[]
  /** Names that --controllers takes, whether they are built or not. */
  readonly knownControllers: readonly KnownController[]
  readonly descriptors: Descriptors
  /** Of what /configz shows. */
  readonly configurationGroup: string
  /** Health is told under /livez and /readyz too. */
  readonly servesProbes: boolean
  /** Loops are started one after the other with --controller-start-interval between them, and informers after the last. */
  readonly startsOneByOne: boolean
  /** There is a second HTTPS port, for webhooks, of flags that begin with `webhook-`. */
  servesWebhooks?(options: Options): boolean
  /** One text for each value, or for several together, that cannot be used. */
  problemsOf(options: Options): Iterable<string>
  componentConfiguration(options: Options, migration?: LeaderMigration): unknown
  /** Before a cluster is looked for; what it rejects with ends the process. */
  prepare(options: Options, world: AppWorld): Promise<Prepared>
}

/** A program that has read what its flags name. */
export interface Prepared {
  /** Asked by the leader, for each of its locks. `config` leads to the cluster. */
  configuration(config: RestConfig): Promise<ControllersConfiguration>
  /** On the leader, before the first of its controllers is built; what it rejects with ends the process. */
  beforeControllers?(surroundings: LeaderSurroundings): Promise<void>
}

export interface LeaderSurroundings {
  /** As of a controller of this name. */
  client(name: string): Client
  /** Not started yet. */
  readonly informers: InformerFactory
  readonly signal: AbortSignal
}

export function definitionsOf({
  flagGroups,
}: Pick<Program, 'flagGroups'>): readonly FlagDefinition[] {
  return flagGroups.flatMap(({ flags }) => flags)
}
