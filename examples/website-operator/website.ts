import { defineResource, definitionOf } from '@gyropilot/runtime'
import type { CustomResource } from '@gyropilot/runtime'

interface WebsiteSpec {
  /** The page that is served. */
  readonly html: string
  /** Default 1. */
  readonly replicas?: number
}

interface WebsiteStatus {
  readonly ready: boolean
  /** The generation that `ready` speaks of. */
  readonly observedGeneration?: number
}

export type Website = CustomResource<WebsiteSpec, WebsiteStatus>

export const websites = defineResource<Website>({
  group: 'example.com',
  version: 'v1',
  kind: 'Website',
})

export const websiteDefinition = definitionOf(websites, {
  additionalPrinterColumns: [{ name: 'Ready', type: 'boolean', jsonPath: '.status.ready' }],
  schema: {
    type: 'object',
    required: ['spec'],
    properties: {
      spec: {
        type: 'object',
        required: ['html'],
        properties: { html: { type: 'string' }, replicas: { type: 'integer', maximum: 10 } },
      },
      status: {
        type: 'object',
        properties: { ready: { type: 'boolean' }, observedGeneration: { type: 'integer' } },
      },
    },
  },
})
