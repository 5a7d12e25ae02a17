import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseRequestInfo } from './request-info.ts'

/** verb group/version namespace resource/subresource name */
const REQUESTS: readonly (readonly [method: string, target: string, expected: string])[] = [
  ['GET', '/api/v1/pods', 'list /v1 - pods -'],
  ['GET', '/api/v1/pods?watch=foo', 'watch /v1 - pods -'],
  ['GET', '/api/v1/pods?watch=FALSE', 'list /v1 - pods -'],
  ['GET', '/api/v1/pods?watch=0', 'list /v1 - pods -'],
  ['GET', '/api/v1/pods?watch', 'watch /v1 - pods -'],
  ['GET', '/apis/apps/v1/namespaces/a/deployments/b', 'get apps/v1 a deployments b'],
  ['HEAD', '/apis/apps/v1/namespaces/a/deployments/b', 'get apps/v1 a deployments b'],
  [
    'PUT',
    '/apis/apps/v1/namespaces/a/deployments/b/status',
    'update apps/v1 a deployments/status b',
  ],
  ['POST', '/api/v1/namespaces/a/pods/b/eviction', 'create /v1 a pods/eviction b'],
  ['DELETE', '/api/v1/namespaces/a/pods', 'deletecollection /v1 a pods -'],
  ['DELETE', '/api/v1/namespaces/a/pods/b', 'delete /v1 a pods b'],
  ['GET', '/api/v1/namespaces', 'list /v1 - namespaces -'],
  ['GET', '/api/v1/namespaces/a', 'get /v1 a namespaces a'],
  ['PUT', '/api/v1/namespaces/a/finalize', 'update /v1 a namespaces/finalize a'],
  ['GET', '/api/v1/namespaces/a/status', 'get /v1 a namespaces/status a'],
  ['GET', '/api/v1/namespaces/a/pods/', 'list /v1 a pods -'],
  ['GET', '/api/v1/namespaces//configmaps', 'list /v1 - configmaps -'],
  ['GET', '/api/v1/watch/pods', 'watch /v1 - pods -'],
  ['GET', '/api/v1/watch/namespaces/a/pods/b', 'watch /v1 a pods b'],
  ['GET', '/api/v1/namespaces/a/pods/a%20b', 'get /v1 a pods a b'],
  ['GET', '/api/v1', 'get'],
  ['POST', '/apis/apps/v1', 'post'],
  ['GET', '/version/', 'get'],
]

for (const [method, target, expected] of REQUESTS) {
  test(`${method} ${target} is ${expected}`, () => {
    const info = parseRequestInfo(method, target)!
    const { verb, group, version, namespace, resource, subresource, name } = info
    const resourceText = subresource === '' ? resource : `${resource}/${subresource}`
    assert.equal(
      info.isResourceRequest
        ? `${verb} ${group}/${version} ${namespace || '-'} ${resourceText} ${name || '-'}`
        : verb,
      expected,
    )
  })
}

test('what is below a namespace is known when its segment is empty too', () => {
  const below = (target: string) => parseRequestInfo('GET', target)!.belowNamespace
  assert.deepEqual(
    [
      '/api/v1/namespaces/a/pods',
      '/api/v1/namespaces//pods/x',
      '/api/v1/namespaces//namespaces',
      '/api/v1/pods',
      '/api/v1/namespaces/a',
      '/api/v1/namespaces/a/status',
      '/api/v1/namespaces//status',
    ].map(below),
    [true, true, true, false, false, false, false],
  )
})

test('a second question mark is part of a name', () => {
  const { query } = parseRequestInfo('GET', '/api/v1/pods??limit=1&watch=1')!
  assert.deepEqual(
    [...query],
    [
      ['?limit', '1'],
      ['watch', '1'],
    ],
  )
})

test('a watch or a proxy of nothing cannot be read', () => {
  assert.equal(parseRequestInfo('GET', '/api/v1/watch'), undefined)
  assert.equal(parseRequestInfo('GET', '/api/v1/proxy'), undefined)
})

test('doubled slashes at the start match no route, and neither does what is no text', () => {
  assert.equal(parseRequestInfo('GET', '//api/v1/pods')?.doubledSlash, true)
  assert.equal(parseRequestInfo('GET', '/%2fapi/v1/pods')?.doubledSlash, true)
  const { isResourceRequest, resource, verb } = parseRequestInfo('GET', '//api/v1/pods')!
  assert.deepEqual([isResourceRequest, resource, verb], [true, 'pods', 'list'])
  assert.equal(parseRequestInfo('GET', '/api/v1/namespaces/a/pods/%zz')?.malformed, true)
  assert.equal(parseRequestInfo('GET', '/api/v1/namespaces/a/pods/%ff')?.malformed, true)
})

test('paths are taken without their escapes', () => {
  assert.equal(parseRequestInfo('GET', '/healthz%2Fping')?.path, '/healthz/ping')
  const { name, parts } = parseRequestInfo('GET', '/api/v1/namespaces/a/pods/x%2fy')!
  assert.deepEqual([name, parts], ['x', ['x', 'y']])
})

test('an escaped slash parts segments for those who judge what is asked for', () => {
  const { namespace, resource, name } = parseRequestInfo(
    'GET',
    '/apis/example.com/v1/namespaces/a%2Fsecrets%2Fx/things/y',
  )!
  assert.deepEqual([namespace, resource, name], ['a', 'secrets', 'x'])
})
