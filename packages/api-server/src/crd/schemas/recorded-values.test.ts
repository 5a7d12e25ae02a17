import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stringifyExact } from '@gyropilot/foundation/exact-json'
import { createTestServer, turn, type AnyValue } from '../../testing/test-server.ts'
/**
 * Fields of a definition, values that kube-apiserver 1.36.2 was given for them, and what it answered: the spec that it kept, the
 * causes of a refusal, or the message of one without causes. Schemas and values are texts, to the letter of their numbers.
 */
import recorded from './recorded-values.json' with { type: 'json' }

type Answer = readonly [field: string, value: string, answer: string | readonly string[]]

const GROUP = 'values.example.com'
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const NAMES = '{"plural":"ws","kind":"Ws"}'

const members = Object.entries(recorded.schemas).map(([name, schema]) => `"${name}":${schema}`)
const spec = `{"type":"object","properties":{${members.join(',')}}}`
const schema = `{"type":"object","properties":{"spec":${spec}}}`
const version = `{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":${schema}}}`
const definition = `{"metadata":{"name":"ws.${GROUP}"},"spec":{"group":"${GROUP}","scope":"Cluster","names":${NAMES},"versions":[${version}]}}`

function said({ status, value }: { readonly status: number; readonly value: AnyValue }): unknown {
  if (status === 201) return stringifyExact(value.spec)
  const causes = value.details?.causes as { field: string; message: string }[] | undefined
  return causes?.map(({ field, message }) => `${field}: ${message}`).toSorted() ?? value.message
}

test('values are kept, changed and refused as by the recorded server', async () => {
  const { request } = await createTestServer()
  assert.equal((await request('POST', DEFINITIONS, definition)).status, 201)
  await turn()
  const path = `/apis/${GROUP}/v1/ws?dryRun=All`
  for (const [field, value, answer] of recorded.answers as unknown as readonly Answer[]) {
    const body = `{"apiVersion":"${GROUP}/v1","kind":"Ws","metadata":{"name":"x"},"spec":{"${field}":${value}}}`
    assert.deepEqual(said(await request('POST', path, body)), answer, `${field}: ${value}`)
  }
})
