/** What a random user does with ranges of Service addresses: they come, are used, and are deleted while they are. */
import { resources } from '@gyropilot/api'
import { service } from '../scenarios/objects.ts'
import { APPS, somePlace } from './operation.ts'
import type { Hand, Operation } from './operation.ts'

const MOST_SERVICES = 8
/** Beside the range that the server has. */
const GIVEN = 'kubernetes'

/** A small range, and a wide one that has it in it. */
function ranges(app: string): Readonly<Record<string, string>> {
  const start = `10.20${APPS.indexOf(app as (typeof APPS)[number])}.0.0`
  return { [`range-${app}`]: `${start}/28`, [`wide-${app}`]: `${start}/24` }
}

function existing({ cluster }: Hand) {
  return cluster.objects
    .all(resources.servicecidrs)
    .filter(({ metadata }) => metadata?.name !== GIVEN)
}

export const serviceRangeOperations: readonly Operation[] = [
  {
    name: 'create a range of Service addresses',
    weight: 1,
    async act(hand) {
      const [name = '', cidr = ''] = hand.pick(Object.entries(ranges(hand.pick(APPS)!)))!
      if (existing(hand).some(({ metadata }) => metadata?.name === name)) return false
      await hand.cluster.create({
        apiVersion: 'networking.k8s.io/v1',
        kind: 'ServiceCIDR',
        metadata: { name },
        spec: { cidrs: [cidr] },
      })
      return true
    },
  },
  {
    name: 'create a Service at an address of a range',
    weight: 2,
    async act(hand) {
      const range = hand.pick(existing(hand))
      const services = hand.cluster.objects.all(resources.services)
      const placed = services.filter(({ spec }) => spec?.clusterIP?.startsWith('10.20') === true)
      if (range === undefined || placed.length >= MOST_SERVICES) return false
      const start = range.spec?.cidrs?.[0]?.replace(/0\/.*$/, '')
      // Some are in the wide range only; none is the last address of one.
      const clusterIP = `${start}${hand.pick([3, 7, 12, 20, 25])}`
      const { spec, ...rest } = service(
        hand.fresh('placed'),
        `web-${hand.pick(APPS)}`,
        somePlace(hand),
      )
      await hand.cluster.create({ ...rest, spec: { ...spec, clusterIP } })
      return true
    },
  },
  {
    name: 'delete a Service at an address of a range',
    weight: 1,
    async act(hand) {
      const services = hand.cluster.objects.all(resources.services)
      const target = hand.pick(
        services.filter(({ metadata }) => metadata?.name?.startsWith('placed-') === true),
      )
      if (target === undefined) return false
      const { namespace, name = '' } = target.metadata ?? {}
      await hand.cluster.delete(resources.services, namespace, name)
      return true
    },
  },
  {
    name: 'delete a range of Service addresses',
    weight: 1,
    async act(hand) {
      const range = hand.pick(existing(hand))
      if (range === undefined) return false
      await hand.cluster.delete(resources.servicecidrs, undefined, range.metadata?.name ?? '')
      return true
    },
  },
]
