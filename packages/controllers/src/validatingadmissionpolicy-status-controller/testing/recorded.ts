/**
 * What kube-controller-manager 1.36.2 wrote into the status of 144 policies: built-in kinds, custom resources, variables,
 * parameters. `recorded-openapi.json` is what the server said of the custom resources.
 */
import type { DiscoveredResource, ValidatingAdmissionPolicySpec } from '@gyropilot/api'
import { resourceTable } from '@gyropilot/api'
import type { Discovered } from '@gyropilot/client'
import type { OpenApiDocument } from '../served-schema.ts'
import openapi from './recorded-openapi.json' with { type: 'json' }
import warnings from './recorded-warnings.json' with { type: 'json' }

interface RecordedPolicy {
  readonly name: string
  readonly spec: ValidatingAdmissionPolicySpec
  /** By fieldRef, in the order of the status. */
  readonly warnings: Readonly<Record<string, string>>
}

export const recordedPolicies = warnings as readonly unknown[] as readonly RecordedPolicy[]
export const recordedDocument = openapi as OpenApiDocument

const custom = (kind: string, resource: string): DiscoveredResource => ({
  group: 'house.example.com',
  version: 'v1',
  resource,
  kind,
  singular: kind.toLowerCase(),
  namespaced: true,
  shortNames: [],
  categories: [],
  verbs: ['get'],
  subresources: [],
})

/** Of the cluster that was recorded. */
export const discovered: Discovered = {
  resources: [...resourceTable, custom('Gadget', 'gadgets'), custom('Limit', 'limits')],
  versions: new Map(),
  failed: new Map(),
}
