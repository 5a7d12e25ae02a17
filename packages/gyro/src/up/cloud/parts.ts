import type { Parts } from '@gyropilot/cluster/live'

/** Where the nodes of the cluster run: clouds reach their pods through it. */
export type CloudParts = Pick<Parts, 'client' | 'kubeletOf'>
