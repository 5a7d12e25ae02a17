/** docs/guides/test-helm-charts.md, word for word, with Helm 3. */
import { test } from 'node:test'
import { testChartOfTheGuide } from '../chart-of-the-guide.ts'

test('Helm 3: the chart of test-helm-charts.md is installed, tested, upgraded and rolled back', () =>
  testChartOfTheGuide('helm-3'))
