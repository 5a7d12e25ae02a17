import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as errors from './status-error.ts'
import * as transport from '../transport.ts'

const error = (
  reason: string | undefined,
  code?: number,
  retryAfterSeconds?: number,
): errors.StatusError =>
  new errors.StatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    ...(reason === undefined ? {} : { reason }),
    ...(code === undefined ? {} : { code }),
    details: {
      causes: [{ reason: 'NamespaceTerminating' }],
      ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    },
  })

test('Given reason or code, then each predicate answers by the rules.', () => {
  const byReasonAndCode: [(error: unknown) => boolean, string, number][] = [
    [errors.isNotFound, 'NotFound', 404],
    [errors.isConflict, 'Conflict', 409],
    [errors.isInvalid, 'Invalid', 422],
    [errors.isForbidden, 'Forbidden', 403],
    [errors.isUnauthorized, 'Unauthorized', 401],
    [errors.isBadRequest, 'BadRequest', 400],
    [errors.isMethodNotSupported, 'MethodNotAllowed', 405],
    [errors.isNotAcceptable, 'NotAcceptable', 406],
    [errors.isRequestEntityTooLarge, 'RequestEntityTooLarge', 413],
    [errors.isUnsupportedMediaType, 'UnsupportedMediaType', 415],
    [errors.isInternalError, 'InternalError', 500],
    [errors.isServiceUnavailable, 'ServiceUnavailable', 503],
    [errors.isTimeout, 'Timeout', 504],
  ]
  for (const [predicate, reason, code] of byReasonAndCode) {
    assert.equal(predicate(error(reason)), true, reason)
    assert.equal(predicate(error(undefined, code)), true, `${reason} by code`)
    assert.equal(
      predicate(error('SomethingNew', code)),
      true,
      `${reason} by code with an unknown reason`,
    )
    assert.equal(
      predicate(error('Expired', code)),
      false,
      `${reason} not by code when another reason is known`,
    )
    assert.equal(predicate(new Error(reason)), false)
  }
  assert.equal(errors.isAlreadyExists(error('AlreadyExists', 409)), true)
  assert.equal(errors.isAlreadyExists(error(undefined, 409)), false)
  assert.equal(errors.isConflict(error('AlreadyExists', 409)), false)
  assert.equal(errors.isServerTimeout(error(undefined, 500)), false)
  assert.equal(errors.isTooManyRequests(error('Forbidden', 429)), true)
  assert.equal(errors.isExpired(error('Gone', 410)), true)
  assert.equal(errors.isExpired(error('Expired')), true)
  assert.equal(errors.isExpired(error(undefined, 410)), true)
  assert.equal(errors.isExpired(error('SomethingNew', 410)), true)
  assert.equal(errors.isExpired(error('Conflict', 410)), false)
})

test('predicates look through wrapped errors, also circular ones', () => {
  const wrapped = new Error('outer', {
    cause: new Error('middle', { cause: error('NotFound', 404) }),
  })
  assert.equal(errors.isNotFound(wrapped), true)
  assert.equal(errors.hasCause(wrapped, 'NamespaceTerminating'), true)
  assert.equal(errors.hasCause(wrapped, 'FieldManagerConflict'), false)
  const circular = new Error('c')
  circular.cause = circular
  assert.equal(errors.isNotFound(circular), false)
})

test('the delay hint is any above 0, and for ServerTimeout also 0', () => {
  assert.equal(error('TooManyRequests', 429, 3).retryAfterMs, 3000)
  assert.equal(error('Conflict', 409, 1).retryAfterMs, 1000)
  assert.equal(error('ServerTimeout', 500, 2).retryAfterMs, 2000)
  assert.equal(error('TooManyRequests', 429, 0).retryAfterMs, undefined)
  assert.equal(error('TooManyRequests', 429).retryAfterMs, undefined)
  assert.equal(error('ServerTimeout', 500).retryAfterMs, 0)
})

test('what does not exist is undefined to ignoreNotFound, anything else is thrown', async () => {
  const refused = (code: number, reason: string) =>
    Promise.reject<string>(
      new errors.StatusError({ kind: 'Status', apiVersion: 'v1', code, reason }),
    )
  assert.equal(await refused(404, 'NotFound').catch(errors.ignoreNotFound), undefined)
  await assert.rejects(refused(403, 'Forbidden').catch(errors.ignoreNotFound), { code: 403 })
  await assert.rejects(Promise.reject(new TypeError('x')).catch(errors.ignoreNotFound), TypeError)
})

test('Given errors of another copy of the package, then they are known like its own', async () => {
  const copyOf = async (path: string): Promise<Record<string, unknown>> => {
    const { pathname } = new URL(path, import.meta.url)
    return import(`${pathname}?another-copy`) as Promise<Record<string, unknown>>
  }
  const others = (await copyOf('./status-error.ts')) as unknown as typeof errors
  const theirs = new others.StatusError(error('NotFound', 404).status)
  assert.notEqual(others.StatusError, errors.StatusError)
  assert.ok(theirs instanceof errors.StatusError)
  assert.ok(errors.isNotFound(new Error('read', { cause: theirs })))
  assert.ok(!(new Error('other') instanceof errors.StatusError))
  const copy = (await copyOf('../transport.ts')) as unknown as typeof transport
  assert.ok(transport.isConnectionRefused(new copy.TransportError('ECONNREFUSED', 'refused')))
})
