import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Draft } from '../objects.ts'
import { FieldErrors } from '../field-errors.ts'
import {
  formatCidr,
  formatIp,
  isStrictSubset,
  maskedCidr,
  parseCidr,
  parseIp,
  validateCidr,
  validateIp,
  validateNonSpecialIp,
} from './ip.ts'
import { isConvertibleSelector, selectorMatches, validateLabelSelector } from './labels.ts'
import { nameCheckOf, validateMetadata, validateMetadataUpdate } from './metadata.ts'
import {
  configMapKey,
  dns1035Label,
  dnsLabel,
  dnsSubdomain,
  labelValue,
  pathSegment,
  portName,
  qualifiedName,
  underscoreSubdomain,
  wildcardSubdomain,
  windowsUserName,
} from './names.ts'
import { validateNonNegative, validateRange } from './numbers.ts'

const text = (errors: FieldErrors): string[] =>
  errors.list.map(({ field, message }) => `${field}: ${message}`)
const of = (check: (errors: FieldErrors) => void): string[] => {
  const errors = new FieldErrors()
  check(errors)
  return text(errors)
}

test('lengths count bytes; only the NetBIOS name of a domain counts characters: recorded', () => {
  const isTooLong = (messages: readonly string[]): boolean =>
    messages.some((message) => /no more than|length must/.test(message))
  const rows: readonly (readonly [(value: string) => readonly string[], most: number])[] = [
    [dnsLabel, 63],
    [dns1035Label, 63],
    [dnsSubdomain, 253],
    [underscoreSubdomain, 253],
    [wildcardSubdomain, 253],
    [qualifiedName, 63],
    [(prefix) => qualifiedName(`${prefix}/a`), 253],
    [labelValue, 63],
    [portName, 15],
    [configMapKey, 253],
    [windowsUserName, 104],
    [(domain) => windowsUserName(`${domain}\\a`), 255],
  ]
  for (const [check, most] of rows) {
    const fits = 'é'.repeat(Math.floor(most / 2))
    assert.deepEqual([isTooLong(check(fits)), isTooLong(check(`${fits}é`))], [false, true])
  }
  assert.deepEqual(windowsUserName(`${'😀'.repeat(15)}\\a`), [])
  assert.deepEqual(windowsUserName(`${'😀'.repeat(16)}\\a`), [
    "runAsUserName's Domain doesn't match the NetBios nor the DNS format",
  ])
})

test('names of each sort', () => {
  assert.deepEqual(dnsLabel('a.b'), ['must not contain dots'])
  assert.match(
    dnsLabel('A')[0]!,
    /^a lowercase RFC 1123 label must consist of .*\(e\.g\. 'my-name', {2}or '123-abc'/,
  )
  assert.deepEqual(dnsSubdomain('a'.repeat(254)), ['must be no more than 253 characters'])
  assert.deepEqual(dnsSubdomain('a.b-c.1'), [])
  assert.deepEqual(pathSegment('system:node'), [])
  assert.deepEqual(pathSegment('a/b%'), ["may not contain '/'", "may not contain '%'"])
  assert.deepEqual(pathSegment('..'), ["may not be '..'"])
  assert.deepEqual(portName('80'), ['must contain at least one letter (a-z)'])
  assert.deepEqual(portName('a'.repeat(16)), ['must be no more than 15 characters'])
  assert.deepEqual(qualifiedName('example.com/a'), [])
  assert.match(qualifiedName('/a')[0]!, /^prefix part must be non-empty$/)
  assert.match(
    qualifiedName('a/b/c')[0]!,
    /^a valid label key must consist of .* with an optional DNS subdomain prefix and '\/' \(e\.g\. 'example\.com\/MyName'\)$/,
  )
  assert.deepEqual(qualifiedName('a'.repeat(64)), ['name part must be no more than 63 bytes'])
  assert.deepEqual(labelValue(''), [])
  assert.deepEqual(configMapKey('..x'), ["must not start with '..'"])
})

const metadata = (fields: Draft): string[] =>
  of((errors) =>
    validateMetadata(
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'n', ...fields } },
      true,
      nameCheckOf(undefined),
      errors,
    ),
  )

test('metadata: keys and values are named, not paths', () => {
  assert.match(
    metadata({ labels: { 'a b': '' } })[0]!,
    /^metadata\.labels: Invalid value: "a b": name part must consist of/,
  )
  assert.match(
    metadata({ annotations: { 'A B': '' } })[0]!,
    /^metadata\.annotations: Invalid value: "A B": name part/,
  )
  assert.deepEqual(metadata({ annotations: { A: 'x'.repeat(262144) } }), [
    'metadata.annotations: Too long: may not be more than 262144 bytes',
  ])
  assert.deepEqual(metadata({ name: '' }), [
    'metadata.name: Required value: name or generateName is required',
  ])
})

test('metadata: managers and subresources of managedFields are short and can be printed', () => {
  const problems = (entry: object): readonly string[] =>
    metadata({ managedFields: [{ operation: 'Update', ...entry }] })
  const at = 'metadata.managedFields[0]'
  assert.deepEqual(problems({ manager: 'é'.repeat(64), subresource: 'x'.repeat(256) }), [])
  assert.deepEqual(problems({ manager: 'é'.repeat(65) }), [
    `${at}.manager: Too long: may not be more than 128 bytes`,
  ])
  assert.deepEqual(problems({ manager: 'é\t' }), [
    `${at}.manager: Invalid value: "é\\t": invalid character U+0009 (at position 2)`,
  ])
  assert.deepEqual(problems({ subresource: 'x'.repeat(257) }), [
    `${at}.subresource: Too long: may not be more than 256 bytes`,
  ])
})

test('generateName is checked with a letter for its hyphen and what stands before it', () => {
  for (const generateName of ['a-', 'A-', '--', `${'a'.repeat(253)}-`])
    assert.deepEqual(metadata({ generateName, name: 'a' }), [], generateName)
  for (const generateName of ['-', 'A', 'A--', `${'a'.repeat(254)}-`])
    assert.equal(metadata({ generateName, name: 'a' }).length, 1, generateName)
})

test('owners and finalizers', () => {
  assert.deepEqual(metadata({ ownerReferences: [{ kind: 'A', name: 'a', uid: '' }] }), [
    'metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
    'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
  ])
  const owner = (name: string): Draft => ({
    uid: name,
    controller: true,
    name: name.toLowerCase(),
    kind: name,
    apiVersion: 'v1',
  })
  assert.match(
    metadata({ ownerReferences: [owner('A'), owner('B')] })[0]!,
    /Only one reference can have Controller set to true\. Found "true" in references for A\/a and B\/b$/,
  )
  assert.match(
    metadata({ ownerReferences: [owner('Event')] })[0]!,
    /^metadata\.ownerReferences: Invalid value: \{"apiVersion":"v1","kind":"Event","name":"event","uid":"Event","controller":true\}: \/v1, Kind=Event is disallowed from being an owner$/,
  )
  // Of the other group they may be.
  const other = { ...owner('Event'), apiVersion: 'events.k8s.io/v1' }
  assert.deepEqual(metadata({ ownerReferences: [other] }), [])
  assert.deepEqual(metadata({ finalizers: ['orphan', 'example.com/f', 'foo.com'] }), [
    'metadata.finalizers[2]: Invalid value: "foo.com": name is neither a standard finalizer name nor is it fully qualified',
  ])
})

test('what no update changes in metadata', () => {
  const before = {
    metadata: {
      name: 'a',
      uid: 'u',
      generation: 2,
      finalizers: ['a/b'],
      deletionTimestamp: '2024-01-01T00:00:00Z',
    },
  }
  const update = (fields: Draft): string[] =>
    of((errors) =>
      validateMetadataUpdate({ metadata: { ...before.metadata, ...fields } }, before, errors),
    )
  assert.deepEqual(update({}), [])
  assert.deepEqual(update({ uid: 'v' }), ['metadata.uid: Invalid value: "v": field is immutable'])
  assert.deepEqual(update({ finalizers: ['a/b', 'example.com/g'] }), [
    'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/g"}',
  ])
})

test('label selectors', () => {
  const check = (selector: Draft): string[] =>
    of((errors) => validateLabelSelector(selector, errors, 's'))
  assert.deepEqual(check({ matchExpressions: [{ key: 'a', operator: 'In' }] }), [
    "s.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
  ])
  assert.deepEqual(check({ matchExpressions: [{ key: 'a', operator: 'Exists', values: ['x'] }] }), [
    "s.matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
  ])
  assert.deepEqual(check({ matchExpressions: [{ key: 'a', operator: 'Foo' }] }), [
    's.matchExpressions[0].operator: Invalid value: "Foo": not a valid selector operator',
  ])
  assert.equal(isConvertibleSelector({ matchLabels: { a: 'b c' } }), false)
  const notIn = { matchExpressions: [{ key: 'a', operator: 'NotIn', values: ['x'] }] }
  assert.deepEqual(
    [
      selectorMatches(notIn, {}),
      selectorMatches(notIn, { a: 'x' }),
      selectorMatches({}, {}),
      selectorMatches(undefined, {}),
    ],
    [true, false, true, false],
  )
})

test('addresses', () => {
  for (const [given, canonical] of [
    ['10.0.0.1', '10.0.0.1'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['::', '::'],
    ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
  ] as const) {
    assert.equal(formatIp(parseIp(given)!), canonical)
  }
  for (const wrong of ['', '1.2.3', '1.2.3.256', '1::2::3', ':::', '1:2:3:4:5:6:7', 'g::'])
    assert.equal(parseIp(wrong), undefined, wrong)
  assert.deepEqual(
    of((errors) => validateIp('010.1.1.1', errors, 'f')),
    ['f: Invalid value: "010.1.1.1": must not have leading 0s'],
  )
  assert.deepEqual(
    of((errors) => validateIp('::ffff:1.2.3.4', errors, 'f')),
    ['f: Invalid value: "::ffff:1.2.3.4": must not be an IPv4-mapped IPv6 address'],
  )
  assert.deepEqual(
    of((errors) => validateCidr('10.0.0.0/33', errors, 'f')),
    [
      'f: Invalid value: "10.0.0.0/33": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
    ],
  )
  assert.equal(formatCidr(maskedCidr(parseCidr('10.0.0.9/24')!)), '10.0.0.0/24')
  assert.equal(isStrictSubset(parseCidr('10.0.0.0/25')!, parseCidr('10.0.0.0/24')!), true)
  assert.equal(isStrictSubset(parseCidr('10.0.0.0/24')!, parseCidr('10.0.0.0/24')!), false)
  assert.deepEqual(
    of((errors) => validateNonSpecialIp('127.0.0.1', errors, 'f')),
    ['f: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)'],
  )
  for (const ip of ['ff02::1', 'ff12::1', 'ff22::5'])
    assert.deepEqual(
      of((errors) => validateNonSpecialIp(ip, errors, 'f')),
      [
        `f: Invalid value: "${ip}": may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)`,
      ],
    )
  for (const ip of ['ff1f::1', 'ff11::1', 'ff03::1'])
    assert.deepEqual(
      of((errors) => validateNonSpecialIp(ip, errors, 'f')),
      [],
    )
})

test('user names of Windows', () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['ContainerUser', []],
    ['NT AUTHORITY\\SYSTEM', []],
    ['a:b\\jane', ["runAsUserName's Domain doesn't match the NetBios nor the DNS format"]],
    ['corp.example\\jane', []],
    ['', ['runAsUserName cannot be an empty string']],
    ['a\\b\\c', ['runAsUserName cannot contain more than one backslash']],
    ['a\u0007', ['runAsUserName cannot contain control characters']],
    ['corp\\', ["runAsUserName's User cannot be empty"]],
  ]
  for (const [name, messages] of cases) assert.deepEqual(windowsUserName(name), messages, name)
})

test('search domains may have underscores', () => {
  assert.deepEqual(underscoreSubdomain('_sip._tcp.example.com'), [])
  assert.equal(underscoreSubdomain('Not Valid!').length, 1)
})

test('an int64 that no number holds is below zero when it is', () => {
  const below = -9007199254740993n
  assert.deepEqual(
    of((errors) => validateNonNegative(below, errors, 'f')),
    [`f: Invalid value: ${below}: must be greater than or equal to 0`],
  )
  assert.deepEqual(
    of((errors) => validateRange(-below, 0, 10, errors, 'f')),
    [`f: Invalid value: ${-below}: must be between 0 and 10, inclusive`],
  )
})
