import type { SubresourceHandler } from '../contracts.ts'
import { notFound } from '../http/errors.ts'
import type { Stored } from '@gyropilot/schema/objects'

export interface ComponentHealth {
  readonly name: string
  readonly healthy: boolean
  /** `ok`, or what went wrong. */
  readonly message: string
}

/** The deprecated view of the control plane's health: asked at each read, never stored. */
export function componentStatuses(probe: () => readonly ComponentHealth[]): SubresourceHandler {
  return {
    group: '',
    resource: 'componentstatuses',
    subresource: '',
    methods: ['GET'],
    async handle(call) {
      const items = probe().map(statusOf)
      if (call.name === '') {
        return {
          code: 200,
          body: { kind: 'ComponentStatusList', apiVersion: 'v1', metadata: {}, items },
        }
      }
      const found = items.find((item) => item['metadata'].name === call.name)
      if (found === undefined)
        throw notFound({ ...call.resource, resource: 'componentstatus' }, call.name)
      return { code: 200, body: { kind: 'ComponentStatus', apiVersion: 'v1', ...found } }
    },
  }
}

function statusOf({ name, healthy, message }: ComponentHealth): Stored {
  return {
    metadata: { name },
    conditions: [{ type: 'Healthy', status: healthy ? 'True' : 'False', message }],
  }
}
