/** The cloud of a simulated cluster, and how one life of a process sees it. */
import type { CloudProvider } from '@gyropilot/cloud-provider'
import { InMemoryCloud } from '@gyropilot/cloud-provider/in-memory'
import type { Clock } from '@gyropilot/foundation'
import type { Incarnation } from './process.ts'

/** Has a machine for every simulated node, and for no other. */
export function cloudOfNodes(clock: Clock): InMemoryCloud {
  return new InMemoryCloud({
    clock,
    keepsCalls: false,
    machineOf(nodeName) {
      const [, number] = /^node-(\d+)$/.exec(nodeName) ?? []
      if (number === undefined) return undefined
      return {
        instanceId: `i-${number}`,
        instanceType: 'simulated.large',
        zone: `zone-${Number(number) % 3}`,
        region: 'region-1',
        addresses: [{ type: 'ExternalIP', address: `203.0.114.${Number(number) % 250}` }],
      }
    },
  })
}

/** Answers reach only the living: calls of a process that was killed are carried out, and it never hears of them. */
export function seenBy(life: Incarnation, provider: CloudProvider): CloudProvider {
  const seen = <T extends object>(part: T | undefined): T | undefined =>
    part === undefined ? undefined : heardBy(life, part)
  return {
    name: provider.name,
    hasClusterId: provider.hasClusterId,
    instancesV2: seen(provider.instancesV2),
    instances: seen(provider.instances),
    zones: seen(provider.zones),
    loadBalancers: seen(provider.loadBalancers),
    routes: seen(provider.routes),
  }
}

/** Methods of classes and of plain objects alike. */
function heardBy<T extends object>(life: Incarnation, part: T): T {
  return new Proxy(part, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      return (...all: unknown[]) => passed(life, member.apply(target, all))
    },
  })
}

/** What is answered at once needs no way. */
function passed(life: Incarnation, answer: unknown): unknown {
  if (!(answer instanceof Promise)) return answer
  return new Promise((resolve, reject) => {
    answer.then(
      (value) => life.pass('network', () => resolve(value)),
      (error: unknown) => life.pass('network', () => reject(error)),
    )
  })
}
