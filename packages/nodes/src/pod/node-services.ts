/** What a pod's worker needs of its node. */
import type { Client } from '@gyropilot/client'
import type { Clock, Logger, RandomSource } from '@gyropilot/foundation'
import type { EventRecorder } from '@gyropilot/runtime'
import type { ImageRules } from '../behavior/image.ts'
import type { NodeRoom } from '../capacity/node-room.ts'
import type { PodAddresses } from '../capacity/pod-addresses.ts'
import type { ClusterNetwork } from '../network/cluster-network.ts'
import type { NodeVolumes } from '../storage/node-volumes.ts'
import type { PodReferences } from './pod-references.ts'

export interface NodeServices {
  readonly nodeName: string
  readonly hostIps: readonly string[]
  readonly addresses: PodAddresses
  /** The machine was off until this life of it: what ran there has died. */
  readonly wasOff: boolean
  readonly client: Client
  readonly clock: Clock
  readonly random: RandomSource
  readonly logger: Logger
  readonly recorder: EventRecorder
  readonly imageRules: ImageRules
  readonly references: PodReferences
  readonly volumes: NodeVolumes
  /** Absent: containers reach nobody, and do not know the commands for it. */
  readonly network?: ClusterNetwork
  readonly room: NodeRoom
  /** Of the node's process. */
  readonly lifetime: AbortSignal
}
