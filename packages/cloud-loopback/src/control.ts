/** What can be asked of the cloud over HTTP: to look at it, to trouble it, to turn machines off. */
import { parseGoDuration } from '@gyropilot/foundation'
import type { CallFaults } from '@gyropilot/cloud-provider/in-memory'
import type { Balancers } from './balancers.ts'
import { keyOfPort } from './balancer-wish.ts'
import type { Machines, MachineState } from './machines.ts'
import type { HttpAnswer, HttpRequest } from './network.ts'
import type { RouteTable } from './route-table.ts'

interface ControlledCloud {
  readonly balancers: Balancers
  readonly machines: Machines
  readonly routes: RouteTable
  readonly faults: CallFaults
}

const STATES: readonly MachineState[] = ['running', 'stopped', 'terminated']

/**
 * | request | effect |
 * |---|---|
 * | GET / | balancers, routes, machines that do not run |
 * | POST /faults `{"call":"ensureLoadBalancer","delay":"2s"}` | calls take this long; `*`, the default, is all of them |
 * | POST /faults `{"call":"*","fail":"quota exceeded","times":3}` | the next calls are refused |
 * | POST /faults `{"partition":true}` | nothing gets through |
 * | DELETE /faults | ends all of these |
 * | POST /machines/node-2 `{"state":"stopped"}` | `running`, `stopped` or `terminated` |
 */
export function controlAnswer(cloud: ControlledCloud, request: HttpRequest): HttpAnswer {
  try {
    return answerOf(cloud, request)
  } catch (error) {
    return { status: 400, value: { error: (error as Error).message } }
  }
}

function answerOf(cloud: ControlledCloud, { method, path, body }: HttpRequest): HttpAnswer {
  const [, nodeName] = /^\/machines\/([^/]+)$/.exec(path) ?? []
  switch (`${method} ${nodeName === undefined ? path : '/machines/'}`) {
    case 'GET /':
      return { status: 200, value: stateOf(cloud) }
    case 'POST /faults':
      trouble(cloud.faults, objectOf(body))
      return { status: 200, value: {} }
    case 'DELETE /faults':
      cloud.faults.clear()
      return { status: 200, value: {} }
    case 'POST /machines/': {
      const { state } = objectOf(body)
      if (!STATES.includes(state as MachineState))
        throw new Error(`state ${JSON.stringify(state)} is not known: use ${STATES.join(', ')}`)
      cloud.machines.become(decodeURIComponent(nodeName!), state as MachineState)
      return { status: 200, value: {} }
    }
    default:
      return { status: 404, value: { error: `no such request: ${method} ${path}` } }
  }
}

function stateOf({ balancers, machines, routes }: ControlledCloud): object {
  return {
    balancers: balancers.all.map(({ address, service, wish, nodes }) => ({
      address,
      service: `${service.namespace}/${service.name}`,
      ports: wish.ports.map(keyOfPort),
      nodes,
    })),
    routes: routes.all.map(({ name, targetNode, destinationCidr }) => ({
      name,
      targetNode,
      destinationCidr,
    })),
    machines: Object.fromEntries(machines.states),
  }
}

function trouble(faults: CallFaults, asked: Record<string, unknown>): void {
  const { call = '*', delay, fail, times, partition } = asked
  if (typeof call !== 'string') throw new Error('call is not the name of a call, or *')
  if (delay === undefined && fail === undefined && partition !== true)
    throw new Error('say what: delay, fail or partition')
  if (delay !== undefined) {
    const delayMs = typeof delay === 'string' ? parseGoDuration(delay) : undefined
    if (typeof delayMs !== 'number') throw new Error('delay is not a duration such as 500ms or 2s')
    faults.slow(call, delayMs)
  }
  if (fail !== undefined) {
    if (times !== undefined && !(Number.isInteger(times) && (times as number) > 0))
      throw new Error('times is not a whole number above 0')
    faults.fail(call, new Error(String(fail)), (times as number | undefined) ?? Infinity)
  }
  if (partition === true) faults.partition()
}

function objectOf(body: string): Record<string, unknown> {
  const value: unknown = JSON.parse(body === '' ? '{}' : body)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('the body is no JSON object')
  return value as Record<string, unknown>
}
