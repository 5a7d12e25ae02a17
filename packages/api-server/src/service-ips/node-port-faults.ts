/** What is wrong with the node ports of Services. Contract: docs/behaviour/api-server/subresources-and-admission.md, "Repair". */
import type { Stored } from '@gyropilot/schema/objects'
import type { Finding } from './repair-rules.ts'
import type { PortRange } from './node-port-allocator.ts'
import { nodePortsOf } from './service-fields.ts'

interface NodePortReview {
  readonly faults: readonly { readonly service: Stored; readonly finding: Finding }[]
  /** What Services have, once each. */
  readonly used: ReadonlySet<number>
}

/** `isTaken`: what the allocator believes. */
export function reviewNodePorts(
  services: Iterable<Stored>,
  range: PortRange,
  isTaken: (port: number) => boolean,
): NodePortReview {
  const used = new Set<number>()
  const faults: { service: Stored; finding: Finding }[] = []
  for (const service of services) {
    for (const port of nodePortsOf(service)) {
      const finding = faultOf(port, range, used, isTaken)
      if (finding !== undefined) faults.push({ service, finding })
      used.add(port)
    }
  }
  return { faults, used }
}

function faultOf(
  port: number,
  { first, last }: PortRange,
  used: ReadonlySet<number>,
  isTaken: (port: number) => boolean,
): Finding | undefined {
  if (port < first || port > last)
    return told(
      'PortOutOfRange',
      `Port ${port} is not within the port range ${first}-${last}; please recreate service`,
    )
  if (used.has(port))
    return told(
      'PortAlreadyAllocated',
      `Port ${port} was assigned to multiple services; please recreate service`,
    )
  if (!isTaken(port)) return told('PortNotAllocated', `Port ${port} is not allocated; repairing`)
  return undefined
}

function told(reason: string, note: string): Finding {
  return { reason, action: 'PortAllocation', note }
}
