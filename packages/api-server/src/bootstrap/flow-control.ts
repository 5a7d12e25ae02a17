/**
 * The flow schemas and priority levels of the release. Contract: docs/behaviour/api-server/subresources-and-admission.md, "What the
 * server itself keeps".
 */
import { semanticEqual } from '@gyropilot/api'
import type { Draft, Stored } from '@gyropilot/schema/objects'
import { SERVER_IDENTITY } from '../auth/index.ts'
import type { ServerInternals } from '../contracts.ts'
import recorded from './generated/bootstrap-objects.json' with { type: 'json' }
import type { KeptKind, Keeper } from './keeper.ts'

const GROUP = 'flowcontrol.apiserver.k8s.io'
const AUTO_UPDATE_SPEC = 'apf.kubernetes.io/autoupdate-spec'
const MANDATORY: ReadonlySet<string> = new Set(['catch-all', 'exempt'])
const TRUE: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'TRUE', 'True'])
const FALSE: ReadonlySet<string> = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False'])

const KINDS = [
  [
    'prioritylevelconfigurations',
    'PriorityLevelConfiguration',
    recorded.priorityLevelConfigurations,
  ],
  ['flowschemas', 'FlowSchema', recorded.flowSchemas],
] as const

/** Makes what is missing, puts back what has changed, and removes what an earlier release has left. */
export async function keepFlowControl(keeper: Keeper, server: ServerInternals): Promise<void> {
  for (const [resource, kind, objects] of KINDS) {
    const keptKind: KeptKind = {
      collection: `${resource}.${GROUP}`,
      apiVersion: `${GROUP}/v1`,
      kind,
      hasGeneration: true,
      manager: 'api-priority-and-fairness-config-producer-v1',
    }
    for (const expected of objects as readonly Stored[]) {
      const stored = keeper.get(keptKind, expected)
      // The conditions come from whoever keeps the status, and are that one's.
      if (stored === undefined) keeper.create(keptKind, { ...expected, status: {} })
      else {
        const wanted = reconciledFlowControl(expected, stored)
        if (wanted !== undefined) keeper.replace(keptKind, wanted)
      }
    }
  }
  for (const [resource, , objects] of KINDS) {
    const names = new Set(objects.map(({ metadata }) => metadata.name))
    for (const { metadata } of server.list(GROUP, resource)) {
      if (names.has(metadata.name) || autoUpdateOf(metadata) !== true) continue
      const preconditions = { uid: metadata.uid, resourceVersion: metadata.resourceVersion }
      await server.delete(GROUP, resource, '', metadata.name, { preconditions }, SERVER_IDENTITY)
    }
  }
}

/** Undefined: it is as it should be. Suggested ones are their users' who say so, or who have changed one that does not say. */
function reconciledFlowControl(expected: Stored, stored: Stored): Stored | undefined {
  const isMandatory = MANDATORY.has(stored['metadata'].name)
  const said = autoUpdateOf(stored['metadata'])
  const follows = isMandatory || (said ?? stored['metadata'].generation === 1)
  const spec = follows ? specOf(expected, stored) : stored['spec']
  const isSpecKept = semanticEqual(spec, stored['spec'])
  if (said === follows && isSpecKept) return undefined
  const metadata: Draft = { ...stored['metadata'] }
  if (said !== follows)
    metadata['annotations'] = { ...metadata['annotations'], [AUTO_UPDATE_SPEC]: String(follows) }
  if (!isSpecKept) metadata['generation'] = (metadata['generation'] ?? 0) + 1
  return { ...stored, metadata, spec }
}

/** The shares of what is exempt are their users'. */
function specOf({ spec: expected }: Stored, { spec: stored }: Stored): Stored {
  return expected.exempt === undefined || stored.exempt === undefined
    ? expected
    : { ...expected, exempt: stored.exempt }
}

function autoUpdateOf({ annotations }: Stored): boolean | undefined {
  const value: string = annotations?.[AUTO_UPDATE_SPEC] ?? ''
  return TRUE.has(value) ? true : FALSE.has(value) ? false : undefined
}
