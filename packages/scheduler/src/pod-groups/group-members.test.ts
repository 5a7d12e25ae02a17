import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pod } from '@gyropilot/api/testing'
import { GroupMembers } from './group-members.ts'

const member = (name: string, podGroupName: string, namespace = 'default') =>
  pod({ name, namespace, spec: { schedulingGroup: { podGroupName } } })

test('members are those of one namespace and name; one that went may come again', () => {
  const members = new GroupMembers()
  assert.equal(members.add(pod({ name: 'alone' })), false)
  assert.equal(members.add(member('a', 'g')), true)
  assert.equal(members.add(member('a', 'g')), false)
  members.add(member('b', 'g', 'other'))
  members.add(member('c', 'h'))
  assert.deepEqual([...members.of('default/g')], ['uid-a'])
  members.drop('uid-a')
  members.drop('uid-a')
  assert.equal(members.of('default/g').size, 0)
  assert.equal(members.add(member('a', 'g')), true)
  assert.deepEqual([...members.of('default/g')], ['uid-a'])
})
