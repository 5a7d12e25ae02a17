/** Streams and proxies into containers and nodes. None exist here, so each is refused before the upgrade, with the reason. */
import { ApiError } from '../contracts.ts'
import type { SubresourceCall, SubresourceHandler } from '../contracts.ts'
import { badRequest } from '../http/errors.ts'
import { parentOf } from './answers.ts'
import { chooseContainer } from './pod-containers.ts'

const ALL_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

export const connections: readonly SubresourceHandler[] = [
  podStream('exec'),
  podStream('attach'),
  podStream('portforward'),
  proxy('pods'),
  proxy('services'),
  proxy('nodes'),
]

function podStream(subresource: 'exec' | 'attach' | 'portforward'): SubresourceHandler {
  return {
    group: '',
    resource: 'pods',
    subresource,
    methods: ['GET', 'POST'],
    async handle(call) {
      const pod = parentOf(call)
      if (subresource !== 'portforward') chooseContainer(pod, call.query.get('container') ?? '')
      if (!pod['spec'].nodeName) throw badRequest(`pod ${call.name} does not have a host assigned`)
      throw badRequest(
        `${subresource} is not possible: the containers of this cluster are simulated`,
      )
    },
  }
}

function proxy(resource: 'pods' | 'services' | 'nodes'): SubresourceHandler {
  return {
    group: '',
    resource,
    subresource: 'proxy',
    methods: ALL_METHODS,
    async handle(call) {
      // `https:name:port` names the object in the middle.
      const parts = call.name.split(':')
      const name = parts.length === 3 ? parts[1]! : parts[0]!
      parentOf({ ...call, name })
      throw unavailable(call, name)
    },
  }
}

function unavailable(call: SubresourceCall, name: string): ApiError {
  const { resource } = call.resource
  const text =
    resource === 'services'
      ? `no endpoints available for service ${JSON.stringify(name)}`
      : `error trying to reach service: nothing listens on the simulated ${call.resource.singular || resource} ${JSON.stringify(name)}`
  return new ApiError(503, 'ServiceUnavailable', text)
}
