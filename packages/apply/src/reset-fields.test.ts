import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resetFields, resetFieldsOfCustomResource } from './reset-fields.ts'

test('a write to the status of an APIService owns nothing of its spec and metadata', () => {
  const ignored = (group: string, resource: string): unknown =>
    resetFields(group, resource, 'status', true)
  const all = ignored('networking.k8s.io', 'servicecidrs')
  assert.deepEqual(ignored('apiregistration.k8s.io', 'apiservices'), all)
  assert.notDeepEqual(ignored('apps', 'replicasets'), all)
})

test('a write to the status of a custom resource owns what else it sends, but for spec and metadata', () => {
  const all = resetFields('networking.k8s.io', 'servicecidrs', 'status', true)
  assert.deepEqual(resetFieldsOfCustomResource('status', true), all)
})
