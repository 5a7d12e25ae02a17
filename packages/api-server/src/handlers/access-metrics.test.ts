import assert from 'node:assert/strict'
import { request } from 'node:https'
import { test } from 'node:test'
import { PrometheusRegistry, SystemClock, SystemRandom } from '@gyropilot/foundation'
import { START_MS, startServer } from '../bootstrap/fixtures.ts'
import { createClusterCertificates } from '../tls/index.ts'

test('who asks and whether they may is counted, by names that are few', async (t) => {
  const metrics = new PrometheusRegistry()
  const tokens = ['admin', 'bob', 'ann@example.com'].map(
    (name) => [`${name}-token`, { name, groups: [], extra: {} }] as const,
  )
  const { server } = await startServer({ metrics, tokens: new Map(tokens) })
  t.after(() => server.stop())
  const ask = async (headers: Record<string, string>, path = '/api/v1/pods'): Promise<number> =>
    (await server.handle({ method: 'GET', path, headers })).status
  const as = (name: string) => ({ authorization: `Bearer ${name}-token` })
  const statuses = [
    await ask(as('bob')),
    await ask(as('ann@example.com')),
    await ask(as('admin'), '/version'),
    await ask(as('nobody')),
    await ask({}),
  ]
  assert.deepEqual(statuses, [403, 403, 200, 401, 403])
  const counts = (name: string): Record<string, number> =>
    Object.fromEntries(
      metrics
        .expose()
        .split('\n')
        .filter((line) => line.startsWith(`${name}{`))
        .map((line) => [/"(.*)"/.exec(line)![1]!, Number(line.split(' ').at(-1))]),
    )
  assert.deepEqual(counts('authentication_attempts'), { error: 1, success: 4 })
  assert.deepEqual(counts('authentication_duration_seconds_count'), { error: 1, success: 4 })
  assert.deepEqual(counts('authenticated_user_requests'), { admin: 1, email_id: 1, other: 2 })
  assert.deepEqual(counts('authorization_attempts_total'), { allowed: 1, 'no-opinion': 3 })
  assert.deepEqual(counts('authorization_duration_seconds_count'), { allowed: 1, 'no-opinion': 3 })
})

test('how long certificates are valid yet is counted with each request', async (t) => {
  const metrics = new PrometheusRegistry()
  const at = { clock: new SystemClock(), random: new SystemRandom() }
  const clock = { ...at.clock, nowMs: () => START_MS, monotonicMs: () => 0 } as SystemClock
  const certificates = createClusterCertificates({ ...at, clock })
  const { server } = await startServer({
    metrics,
    clientAuthorityPem: certificates.authority.certificatePem,
  })
  t.after(() => server.stop(0))
  const { certificatePem, privateKeyPem: keyPem } = certificates.serving
  const { port } = await server.listen({ host: '127.0.0.1', port: 0, certificatePem, keyPem })
  const { admin } = certificates
  await new Promise<void>((resolve, reject) => {
    request(
      {
        host: '127.0.0.1',
        port,
        path: '/version',
        rejectUnauthorized: false,
        cert: admin.certificatePem,
        key: admin.privateKeyPem,
      },
      (answer) => answer.resume().once('end', resolve),
    )
      .once('error', reject)
      .end()
  })
  const lines = metrics
    .expose()
    .split('\n')
    .filter((line) => line.startsWith('apiserver_client_certificate_expiration_seconds'))
  const bounds = lines.flatMap((line) => /le="([^"]*)"/.exec(line)?.[1] ?? [])
  assert.deepEqual(
    [bounds.length, bounds[0], bounds[1], bounds.at(-2)],
    [15, '0', '1800', '3.1104e+07'],
  )
  assert.match(lines.at(-1)!, /_count 1$/)
})
