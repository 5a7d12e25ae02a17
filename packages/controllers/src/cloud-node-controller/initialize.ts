/** What a node becomes when its cloud has answered for it. Pure. */
import type { Node } from '@gyropilot/api'
import type { InstanceMetadata } from '@gyropilot/cloud-provider'
import {
  BETA_REGION_LABEL,
  BETA_TYPE_LABEL,
  BETA_ZONE_LABEL,
  REGION_LABEL,
  TYPE_LABEL,
  UNINITIALIZED_TAINT,
  ZONE_LABEL,
} from './config.ts'

const RESERVED = /(^|\.)(kubernetes|k8s)\.io\//

export function isUninitialized({ spec }: Node): boolean {
  return (spec?.taints ?? []).some(({ key }) => key === UNINITIALIZED_TAINT)
}

/** Provider ID, labels, and no cloud taint any more. A provider ID that it had is kept. */
export function initialized(node: Node, metadata: InstanceMetadata): Node {
  const { instanceType, zone, region, additionalLabels = {} } = metadata
  const labels: Record<string, string> = { ...node.metadata?.labels }
  if (instanceType) labels[BETA_TYPE_LABEL] = labels[TYPE_LABEL] = instanceType
  if (zone) labels[BETA_ZONE_LABEL] = labels[ZONE_LABEL] = zone
  if (region) labels[BETA_REGION_LABEL] = labels[REGION_LABEL] = region
  for (const [key, value] of Object.entries(additionalLabels)) {
    if (!RESERVED.test(key)) labels[key] ??= value
  }
  const taints = (node.spec?.taints ?? []).filter(({ key }) => key !== UNINITIALIZED_TAINT)
  const providerID = node.spec?.providerID || metadata.providerId
  return {
    ...node,
    metadata: { ...node.metadata, labels },
    spec: {
      ...node.spec,
      taints: taints.length === 0 ? undefined : taints,
      ...(providerID ? { providerID } : {}),
    },
  }
}
