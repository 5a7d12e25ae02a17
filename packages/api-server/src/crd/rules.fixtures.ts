/** A server with one definition that has rules; it ends after the test. */
import assert from 'node:assert/strict'
import { afterEach } from 'node:test'
import { startServer } from '../bootstrap/fixtures.ts'
import type { TestServer } from '../bootstrap/fixtures.ts'
import { turn } from '../testing/test-server.ts'

export const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
export const NAME = 'things.spec-x.example.com'
export const THINGS = '/apis/spec-x.example.com/v1/namespaces/default/things'
const stops: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

export const rule = (text: string, rest: object = {}): object => ({ rule: text, ...rest })
export const object = (properties: object, rest: object = {}): object => ({
  type: 'object',
  properties,
  ...rest,
})

export function definition(spec: object, root: object = {}): object {
  return {
    metadata: { name: NAME },
    spec: {
      group: 'spec-x.example.com',
      scope: 'Namespaced',
      names: { plural: 'things', kind: 'Thing' },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: object({ spec }, root) },
        },
      ],
    },
  }
}

/** Definitions are given their names and served in later turns. */
export async function served(): Promise<void> {
  for (let i = 0; i < 20; i++) await turn()
}

interface Setup extends TestServer {
  create(spec: object, name?: string): Promise<[number, string]>
}

export async function setup(spec: object, root: object = {}): Promise<Setup> {
  const server = await startServer()
  stops.push(() => server.server.stop())
  const { status, body } = await server.call('POST', DEFINITIONS, definition(spec, root))
  assert.equal(status, 201, body.message)
  await served()
  return {
    ...server,
    async create(given, name = 'a') {
      const answer = await server.call('POST', THINGS, thing(given, name))
      return [
        answer.status,
        answer.body.message?.replace(`Thing.spec-x.example.com "${name}" is invalid: `, ''),
      ]
    },
  }
}

export function thing(spec: object, name = 'a', metadata: object = {}): object {
  return {
    apiVersion: 'spec-x.example.com/v1',
    kind: 'Thing',
    metadata: { name, ...metadata },
    spec,
  }
}

/** The causes with which a definition is refused, as `path: message`. */
export async function refusals(spec: object): Promise<string[]> {
  const server = await startServer()
  stops.push(() => server.server.stop())
  const { body } = await server.call('POST', DEFINITIONS, definition(spec))
  const causes: readonly { field: string; message: string }[] = body.details?.causes ?? []
  return causes.map(
    ({ field, message }) =>
      `${field.replace('spec.validation.openAPIV3Schema.properties[spec]', '')}: ${message}`,
  )
}

export const INTEGER = { type: 'integer' }
export const STRING = { type: 'string' }
