import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resourceTable } from '@gyropilot/api'
import { envelope, recordedAnswers } from '@gyropilot/protobuf/testing'
import type { ServerRequestBody } from '../../http/exchange.ts'
import { createTestServer } from '../../testing/test-server.ts'

const UIDS = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

test('every recorded object is taken as bytes as it is taken as JSON', async () => {
  const { server, request } = await createTestServer()
  await request('POST', '/api/v1/namespaces', { metadata: { name: 'srv-a' } })
  await request('POST', '/api/v1/namespaces/srv-a/serviceaccounts', {
    metadata: { name: 'default' },
  })
  const send = async (
    path: string,
    type: string,
    body: ServerRequestBody,
  ): Promise<readonly unknown[]> => {
    const headers = { authorization: 'Bearer test-token', 'content-type': type }
    const answer = await server.handle({ method: 'POST', path, headers, body })
    assert.ok(answer.body.kind === 'value')
    const { metadata, status, ...rest } = answer.body.value as {
      metadata?: object
      status?: object
    }
    const {
      uid: _uid,
      managedFields: _fields,
      ...kept
    } = (metadata ?? {}) as Record<string, unknown>
    // The labels of jobs repeat the uid, which chance makes.
    const text = JSON.stringify([rest, kept, { ...status, token: '' }])
    return [answer.status, ...JSON.parse(text.replace(UIDS, 'uid'))]
  }
  let created = 0
  for (const answer of recordedAnswers) {
    const { group, version, kind, value, body } = answer
    const resource = resourceTable.find(
      (one) => one.group === group && one.version === version && one.kind === kind,
    )
    if (resource === undefined || !resource.verbs.includes('create')) continue
    const apiVersion = group === '' ? version : `${group}/${version}`
    const prefix = group === '' ? '/api/v1' : `/apis/${apiVersion}`
    const { namespace = 'srv-a' } = (value['metadata'] ?? {}) as { namespace?: string }
    const scope = resource.namespaced ? `/namespaces/${namespace}` : ''
    const path = `${prefix}${scope}/${resource.resource}?dryRun=All`
    const asJson = await send(path, 'application/json', { json: { apiVersion, kind, ...value } })
    const raw = Buffer.from(body, 'base64')
    const bytes = envelope({ apiVersion, kind, raw })
    const asBytes = await send(path, 'application/vnd.kubernetes.protobuf', { bytes })
    assert.deepEqual(asBytes, asJson, `${kind} ${JSON.stringify(value)}`)
    assert.notEqual(asBytes[0], 500, JSON.stringify(asBytes))
    if (asBytes[0] === 201) created++
  }
  assert.ok(created > 90, `${created} were created`)
})
