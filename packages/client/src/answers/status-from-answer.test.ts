import assert from 'node:assert/strict'
import { test } from 'node:test'
import { statusFromAnswer } from './status-from-answer.ts'

const about = { group: 'apps', resource: 'deployments', name: 'x' }
const get = { method: 'GET', about } as const
const post = { method: 'POST', about } as const

const GENERIC: [number, unknown, string, string][] = [
  [
    400,
    'bad',
    'BadRequest',
    'the server rejected our request for an unknown reason (get deployments.apps x)',
  ],
  [
    401,
    'Unauthorized',
    'Unauthorized',
    'the server has asked for the client to provide credentials (get deployments.apps x)',
  ],
  [403, 'no way', 'Forbidden', 'no way (get deployments.apps x)'],
  [
    404,
    '404 page not found\n',
    'NotFound',
    'the server could not find the requested resource (get deployments.apps x)',
  ],
  [
    405,
    '',
    'MethodNotAllowed',
    'the server does not allow this method on the requested resource (get deployments.apps x)',
  ],
  [
    406,
    undefined,
    'NotAcceptable',
    'the server was unable to respond with a content type that the client supports (get deployments.apps x)',
  ],
  [409, '', 'Conflict', 'the server reported a conflict (get deployments.apps x)'],
  [415, 'nope', 'UnsupportedMediaType', 'nope (get deployments.apps x)'],
  [
    422,
    '',
    'Invalid',
    'the server rejected our request due to an error in our request (get deployments.apps x)',
  ],
  [
    429,
    '',
    'TooManyRequests',
    'the server has received too many requests and has asked us to try again later (get deployments.apps x)',
  ],
  [
    500,
    'oops',
    'InternalError',
    'an error on the server ("oops") has prevented the request from succeeding (get deployments.apps x)',
  ],
  [
    502,
    { undecoded: 'text' },
    'InternalError',
    'an error on the server ("unknown") has prevented the request from succeeding (get deployments.apps x)',
  ],
  [
    503,
    '',
    'ServiceUnavailable',
    'the server is currently unable to handle the request (get deployments.apps x)',
  ],
  [
    504,
    '',
    'Timeout',
    'the server was unable to return a response in the time allotted, but may still be processing the request (get deployments.apps x)',
  ],
]

test('Given a non-Status body, then a typed error by code.', () => {
  for (const [code, body, reason, message] of GENERIC) {
    const status = statusFromAnswer(get, { code, body })
    assert.deepEqual([status.code, status.reason, status.message], [code, reason, message])
    assert.equal(status.details?.causes?.[0]?.reason, 'UnexpectedServerResponse')
    assert.deepEqual(
      [status.details.group, status.details.kind, status.details.name],
      ['apps', 'deployments', 'x'],
    )
  }
})

test('409 to a POST is AlreadyExists; an unknown code has no reason', () => {
  assert.equal(statusFromAnswer(post, { code: 409, body: '' }).reason, 'AlreadyExists')
  const teapot = statusFromAnswer({ method: 'GET' }, { code: 418, body: 'tea' })
  assert.equal(teapot.reason, undefined)
  assert.equal(
    teapot.message,
    'the server responded with the status code 418 but did not return more information',
  )
})

test("a server's own Status is kept, its code filled in when it has none", () => {
  const own = {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    message: 'm',
    reason: 'NotFound',
  }
  assert.deepEqual(statusFromAnswer(get, { code: 404, body: own }), { ...own, code: 404 })
})

test('at most 2048 bytes of the body are quoted, and the hint of Retry-After is kept', () => {
  const status = statusFromAnswer(get, { code: 500, body: 'x'.repeat(5000), retryAfterSeconds: 7 })
  assert.equal(status.details?.causes?.[0]?.message?.length, 2048)
  assert.equal(status.details?.retryAfterSeconds, 7)
})
