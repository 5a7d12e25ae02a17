import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ResourceInfo } from '../contracts.ts'
import { rulesFor } from '../kinds/index.ts'
import { conversionFor } from '../registry/conversion.ts'
import type { Stored } from '@gyropilot/schema/objects'
import type { ServedResource } from '../registry/resource-registry.ts'
import { tableOf } from './table.ts'

function served(group: string, version: string, resource: string, kind: string): ServedResource {
  const info = { group, version, resource, kind } as ResourceInfo
  return { info, rules: rulesFor(group, kind)!, storage: conversionFor(info)! } as ServedResource
}

function cellOf(resource: ServedResource, object: Stored, column: string): unknown {
  const options = { version: 'v1', includeObject: 'None', nowMs: 0 } as const
  const { columnDefinitions, rows } = tableOf(resource, [object], {}, options)
  const index = (columnDefinitions as Stored[]).findIndex(({ name }) => name === column)
  return (rows as Stored[])[0]!.cells[index]
}

test('Given kinds in two versions, when listed as tables, then the cells come from what is stored.', () => {
  const event = served('events.k8s.io', 'v1', 'events', 'Event')
  const note = { regarding: { kind: 'Pod', name: 'p' }, note: 'text', reportingInstance: 'i' }
  assert.equal(cellOf(event, note, 'Object'), 'pod/p')
  assert.equal(cellOf(event, note, 'Message'), 'text')
  assert.equal(cellOf(event, { ...note, reportingController: 'c' }, 'Source'), 'c, i')
  const autoscaler = served(
    'autoscaling',
    'v1',
    'horizontalpodautoscalers',
    'HorizontalPodAutoscaler',
  )
  const spec = { maxReplicas: 2, targetCPUUtilizationPercentage: 50 }
  assert.equal(cellOf(autoscaler, { spec }, 'Targets'), 'cpu: <unknown>/50%')
})
