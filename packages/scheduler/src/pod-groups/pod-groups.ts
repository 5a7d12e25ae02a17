/** PodGroups and their pods, as scheduling has to do with them. Contract: docs/behaviour/simulation/scheduler.md, PodGroups. */
import { POD_GROUPS, podGroupKeyOf, podGroupNameOf } from '@gyropilot/api'
import type { Pod, PodGroup } from '@gyropilot/api'
import type { Client } from '@gyropilot/client'
import type { Clock, Logger } from '@gyropilot/foundation'
import { lastStateOf } from '@gyropilot/runtime'
import type { InformerFactory, Lister } from '@gyropilot/runtime'
import type { GroupQuorum, GroupScheduled } from './decide-group.ts'
import { GroupMembers } from './group-members.ts'
import { GroupStatus } from './group-status.ts'

interface PodGroupsOptions {
  readonly client: Client
  readonly informers: InformerFactory
  readonly clock: Clock
  readonly logger: Logger
  readonly featureGates?: Readonly<Record<string, boolean>>
  /** The pod has a node, or is being bound to one. */
  readonly isPlaced: (uid: string) => boolean
  /** These pods, by uid, may have what they waited for. */
  readonly onChange: (uids: Iterable<string>) => void
}

/** A group as its pods are tried. */
export interface TriedGroup extends GroupQuorum {
  readonly group: PodGroup
  /** All its pods, by uid. */
  readonly members: ReadonlySet<string>
}

/** With gate GenericWorkload; without it no pod is of a group. */
export class PodGroups {
  readonly #members = new GroupMembers()
  /** Members that need no node any more. If they did not count, the rest of a gang might wait for pods that nobody makes. */
  readonly #succeeded = new Set<string>()
  readonly #status: GroupStatus
  readonly #isPlaced: (uid: string) => boolean
  readonly #onChange: (uids: Iterable<string>) => void
  /** Undefined: nobody looks at groups. */
  readonly #groups: Lister<PodGroup> | undefined
  /** Whether their pods wait for each other. */
  readonly #schedulesGangs: boolean

  constructor({ informers, featureGates = {}, isPlaced, onChange, ...writes }: PodGroupsOptions) {
    this.#status = new GroupStatus(writes)
    this.#isPlaced = isPlaced
    this.#onChange = onChange
    const isOn = featureGates['GenericWorkload'] === true
    this.#schedulesGangs = isOn && featureGates['GangScheduling'] === true
    if (!isOn) return
    const groups = informers.informer(POD_GROUPS)
    this.#groups = groups.lister
    groups.addHandler({
      onAdd: (group) => this.#changed(group),
      onUpdate: (before, group) => {
        if (before.metadata?.uid === group.metadata?.uid) return
        this.#status.forget(before.metadata?.uid ?? '')
        this.#changed(group)
      },
      onDelete: (gone) => {
        const group = lastStateOf(gone)
        this.#status.forget(group?.metadata?.uid ?? '')
      },
    })
  }

  #changed({ metadata }: PodGroup): void {
    this.#onChange(this.#members.of(`${metadata?.namespace}/${metadata?.name}`))
  }

  /** A pod that has a node, had one and did its work there, or is to get one here. */
  observe(pod: Pod): void {
    if (this.#groups === undefined || podGroupNameOf(pod) === undefined) return
    if (pod.status?.phase === 'Succeeded') this.#succeeded.add(pod.metadata?.uid ?? '')
    if (this.#members.add(pod)) this.#onChange(this.#members.of(podGroupKeyOf(pod)!))
  }

  drop(uid: string): void {
    this.#succeeded.delete(uid)
    this.#members.drop(uid)
  }

  /** Its group or too many of its pods are not there yet: it is not tried, and nothing is said of it. */
  isWaiting(pod: Pod): boolean {
    const key = podGroupKeyOf(pod)
    if (!this.#schedulesGangs || key === undefined) return false
    const group = this.#groupOf(pod)
    return group === undefined || this.#members.of(key).size < minCountOf(group)
  }

  /** What the pod is tried with; undefined: nobody. */
  of(pod: Pod): TriedGroup | undefined {
    const key = podGroupKeyOf(pod)
    const group = this.#groupOf(pod)
    if (key === undefined || group === undefined) return undefined
    const members = this.#members.of(key)
    const hasRoom = (uid: string): boolean => this.#isPlaced(uid) || this.#succeeded.has(uid)
    const scheduled = [...members].filter(hasRoom).length
    return { group, members, scheduled, minCount: this.#schedulesGangs ? minCountOf(group) : 0 }
  }

  say({ group }: TriedGroup, condition: GroupScheduled): void {
    this.#status.say(group, condition)
  }

  stop(): void {
    this.#status.stop()
  }

  #groupOf(pod: Pod): PodGroup | undefined {
    const name = podGroupNameOf(pod)
    return name === undefined ? undefined : this.#groups?.get(pod.metadata?.namespace, name)
  }
}

function minCountOf({ spec }: PodGroup): number {
  return spec.schedulingPolicy.gang?.minCount ?? 0
}
