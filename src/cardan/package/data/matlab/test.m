function test_@NAME@()
% Compares every function with numbers that were computed by another route.
  faults = 0;
@CASES@
  if faults > 0
    error('%d results differ', faults);
  end
  fprintf('all results agree\n');
end

function faults = check(name, inputs, expected)
  faults = compare(name, inputs, expected);
  if exist([name '_mex'], 'file') == 3
    faults = faults + compare([name '_mex'], inputs, expected);
    fprintf('%s: tested\n', [name '_mex']);
  end
  fprintf('%s: tested\n', name);
end

function faults = compare(name, inputs, expected)
  faults = 0;
  for k = 1:numel(expected{1})
    given = cellfun(@(x) x{k}, inputs, 'UniformOutput', false);
    found = cell(1, numel(expected));
    [found{:}] = feval(name, given{:});
    for i = 1:numel(expected)
      wanted = expected{i}{k};
      scale = max([1; abs(wanted(:))]);
      if ~isequal(size(found{i}), size(wanted)) || ~(max(abs(found{i}(:) - wanted(:))) <= @TOLERANCE@*scale)
        fprintf('%s: result %d of state %d differs\n', name, i, k);
        faults = faults + 1;
      end
    end
  end
end

function x = shaped(values, sizes)
% The array of these values, given row by row.
  x = permute(reshape(values, fliplr(sizes)), numel(sizes):-1:1);
end
