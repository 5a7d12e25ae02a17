import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signingRequestPem } from '@gyropilot/foundation/testing'
import type { SigningRequestOptions } from '@gyropilot/foundation/testing'
import { parseSigningRequest } from '@gyropilot/foundation/x509'
import { NODE } from './fixtures.ts'
import { kubeletClientProblem, kubeletServingProblem } from './kubelet-requests.ts'

type Case = readonly [SigningRequestOptions, readonly string[], string | undefined]

const CLIENT = ['digital signature', 'client auth']
const CLIENT_MISMATCH = 'usages did not match [client auth digital signature key encipherment]'
const ORGANIZATION = 'subject organization is not system:nodes'
const NAME = 'subject common name does not begin with system:node:'
const clients: readonly Case[] = [
  [NODE, CLIENT, undefined],
  [NODE, ['client auth', 'key encipherment', 'digital signature', 'client auth'], undefined],
  [NODE, ['client auth'], CLIENT_MISMATCH],
  [NODE, ['digital signature'], CLIENT_MISMATCH],
  [NODE, [], CLIENT_MISMATCH],
  [NODE, [...CLIENT, 'server auth'], CLIENT_MISMATCH],
  [NODE, [...CLIENT, 'signing'], CLIENT_MISMATCH],
  [{ ...NODE, organizations: [] }, [], ORGANIZATION],
  [{ ...NODE, organizations: ['system:nodes', 'b'] }, [], ORGANIZATION],
  [{ ...NODE, organizations: ['system:node'], dnsNames: ['a'] }, [], ORGANIZATION],
  [{ ...NODE, commonName: 'n1' }, [], NAME],
  [{ organizations: ['system:nodes'] }, CLIENT, NAME],
  [
    { ...NODE, dnsNames: ['a'], emailAddresses: ['a@b.c'] },
    [],
    'DNS subjectAltNames are not allowed',
  ],
  [
    { ...NODE, emailAddresses: ['a@b.c'], ipAddresses: ['10.0.0.1'] },
    [],
    'Email subjectAltNames are not allowed',
  ],
  [{ ...NODE, ipAddresses: ['10.0.0.1'], uris: ['a:b'] }, [], 'IP subjectAltNames are not allowed'],
  [{ ...NODE, uris: ['a:b'], commonName: 'n1' }, [], 'URI subjectAltNames are not allowed'],
]

const SERVING = ['digital signature', 'server auth']
const SERVING_MISMATCH = 'usages did not match [digital signature key encipherment server auth]'
const servings: readonly Case[] = [
  [{ ...NODE, dnsNames: ['n1'] }, SERVING, undefined],
  [{ ...NODE, ipAddresses: ['10.0.0.1'] }, [...SERVING, 'key encipherment'], undefined],
  [{ ...NODE, organizations: ['a'] }, SERVING, ORGANIZATION],
  [{ ...NODE, emailAddresses: ['a@b.c'] }, [], 'DNS or IP subjectAltName is required'],
  [
    { ...NODE, dnsNames: ['n1'], emailAddresses: ['a@b.c'], uris: ['a:b'] },
    [],
    'Email subjectAltNames are not allowed',
  ],
  [{ ...NODE, dnsNames: ['n1'], uris: ['a:b'] }, [], 'URI subjectAltNames are not allowed'],
  [{ ...NODE, commonName: 'n1', dnsNames: ['n1'] }, CLIENT, SERVING_MISMATCH],
  [{ ...NODE, commonName: 'n1', dnsNames: ['n1'] }, SERVING, NAME],
]

test('what a kubelet may ask for to speak to the server, and the first thing that is wrong', () => {
  for (const [options, usages, problem] of clients) {
    const request = parseSigningRequest(signingRequestPem(options))
    assert.equal(kubeletClientProblem(request, usages), problem, JSON.stringify([options, usages]))
  }
})

test('what a kubelet may ask for to serve, and the first thing that is wrong', () => {
  for (const [options, usages, problem] of servings) {
    const request = parseSigningRequest(signingRequestPem(options))
    assert.equal(kubeletServingProblem(request, usages), problem, JSON.stringify([options, usages]))
  }
})
