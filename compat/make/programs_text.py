"""The public programs of :mod:`compat.make.programs_list` that train on text, BERT first."""

from compat.make.programs_row import program as _program

BERT = (
    "--vocab_file={data}/vocabulary.txt --bert_config_file={data}/config.json "
    "--output_dir={out}/model --max_seq_length=64 --train_batch_size=16 "
)
STEPS = "--num_train_steps=4 --num_warmup_steps=1 --iterations_per_loop=2 "
PRETRAIN = (
    "--input_file={data}/bert.tfrecord --output_dir={out}/model "
    "--do_train=True --do_eval=True --use_tpu=True --tpu_name=any --train_batch_size=16 "
    "--eval_batch_size=16 --max_seq_length=64 --max_predictions_per_seq=20 "
    "--save_checkpoints_steps=4 --max_eval_steps=1 " + STEPS
)
COLA = (
    BERT + "--task_name=cola --do_train=true --do_eval=true --do_predict=true "
    "--data_dir={data}/cola --eval_batch_size=16 --predict_batch_size=16 "
    "--num_train_epochs=1 --use_tpu=True --tpu_name=any --save_checkpoints_steps=4 "
    "--iterations_per_loop=2"
)
SQUAD = (
    BERT + "--train_file={data}/squad.json --predict_file={data}/squad.json --do_train=True "
    "--do_predict=True --doc_stride=32 --max_query_length=16 --num_train_epochs=1 "
    "--predict_batch_size=16 --use_tpu=True --tpu_name=any --iterations_per_loop=2"
)
XLNET = (
    "--bsz_per_host=16 --num_core_per_host=8 --seq_len=32 --reuse_len=16 "
    "--input_glob={data}/text/*.txt --save_dir={out}/data --num_passes=1 --bi_data=False "
    "--sp_path={data}/spiece.model --mask_alpha=6 --mask_beta=1 --num_predict=5 "
    "--uncased=False ;; "
    "--record_info_dir={out}/data/tfrecords --model_dir={out}/model --train_batch_size=16 "
    "--seq_len=32 --reuse_len=16 --mem_len=16 --perm_size=16 --bi_data=False "
    "--n_layer=2 --d_model=16 "
    "--d_embed=16 --n_head=2 --d_head=8 --d_inner=32 --untie_r=True --mask_alpha=6 "
    "--mask_beta=1 --num_predict=5 --use_tpu=True --tpu=any --num_core_per_host=8 "
    "--train_steps=4 --iterations=2 --save_steps=4 --warmup_steps=1"
)
XLNET_TASK = (
    "--model_config_path={data}/xlnet.json --spiece_model_file={data}/spiece.model "
    "--output_dir={out}/records --model_dir={out}/model --max_seq_length=64 --do_train=True "
    "--do_eval=True --train_batch_size=16 --eval_batch_size=16 --use_tpu=True --tpu=any "
    "--num_core_per_host=8 --iterations=2 --save_steps=4 --warmup_steps=1 --uncased=True "
)
XLNET_SQUAD = (
    "--model_config_path={data}/xlnet.json --spiece_model_file={data}/spiece.model "
    "--output_dir={out}/records --model_dir={out}/model --predict_dir={out}/predicted "
    "--train_file={data}/squad.json --predict_file={data}/squad.json --uncased=True "
    "--max_seq_length=64 --max_query_length=16 --doc_stride=32 "
)
GROVER = (
    "--config_file={data}/grover.json --input_file={data}/grover.tfrecord "
    "--output_dir={out}/model --max_seq_length=32 --train_batch_size=16 --use_tpu=True "
    "--tpu_name=any --save_checkpoints_steps=4 " + STEPS
)
ALBERT = (
    BERT.replace("bert_config", "albert_config") + "--spm_model_file= --data_dir={data} "
    "--do_train=true --do_eval=true --do_predict=true --eval_batch_size=16 "
    "--predict_batch_size=16 --train_step=4 --warmup_step=1 --use_tpu=True --tpu_name=any "
    "--save_checkpoints_steps=4 --iterations_per_loop=2 "
)
ALBERT_SQUAD = (
    SQUAD.replace("bert_config", "albert_config") + " --spm_model_file={data}/albert.model "
    "--train_feature_file={out}/train --predict_feature_file={out}/predict "
    "--predict_feature_left_file={out}/left --save_checkpoints_steps=4"
)
LCQMC = COLA.replace("{data}/cola", "{data}/lcqmc")
TNEWS = COLA.replace("cola", "tnews")
STS = COLA.replace("=cola", "=sts").replace("/cola", "/biosses").replace("predict", "test") + (
    " --init_checkpoint={data}/bert-model/model.ckpt"
)
#: It drives the queues of a TPU's infeed and outfeed itself.
_HOOK = "no TPU: its LoggingTensorHook reads a tensor of the cores' steps"


TEXT = {
    "BERT, pre-training": _program(
        "google-research/bert",
        "2019-06-01",
        "create_pretraining_data.py ;; run_pretraining.py",
        "--input_file=sample_text.txt --output_file={out}/data --vocab_file={data}/vocabulary.txt "
        "--max_seq_length=64 --dupe_factor=10 ;; "
        + PRETRAIN.replace("{data}/bert.tfrecord", "{out}/data")
        + "--bert_config_file={data}/config.json",
    ),
    "BERT, run_classifier": _program(
        "google-research/bert", "2019-06-01", "run_classifier.py", COLA
    ),
    "BERT, run_squad": _program("google-research/bert", "2019-06-01", "run_squad.py", SQUAD),
    "BERT, optimization_test": _program(
        "google-research/bert", "2019-06-01", "optimization_test.py"
    ),
    "BERT, modeling_test": _program("google-research/bert", "2019-06-01", "modeling_test.py"),
    "adapter-BERT, run_classifier": _program(
        "google-research/adapter-bert", "2019-12-01", "run_classifier.py", COLA
    ),
    "ALBERT, pre-training": _program(
        "google-research/albert",
        "2020-06-01",
        "run_pretraining.py",
        PRETRAIN.replace("bert.tfrecord", "albert.tfrecord")
        + "--albert_config_file={data}/config.json",
    ),
    "ALBERT, run_classifier": _program(
        "google-research/albert", "2020-06-01", "run_classifier.py", ALBERT + "--task_name=sst-2"
    ),
    "ALBERT, run_race": _program(
        "google-research/albert",
        "2020-06-01",
        "run_race.py",
        ALBERT + "--task_name=race --max_qa_length=24 --train_file={out}/train "
        "--eval_file={out}/eval --predict_file={out}/predict",
    ),
    "ALBERT, run_squad_v1": _program(
        "google-research/albert", "2020-06-01", "run_squad_v1.py", ALBERT_SQUAD
    ),
    "ALBERT, run_squad_v2": _program(
        "google-research/albert", "2020-06-01", "run_squad_v2.py", ALBERT_SQUAD
    ),
    "ALBERT, modeling_test": _program("google-research/albert", "2020-06-01", "modeling_test.py"),
    "RoBERTa zh, pre-training": _program(
        "brightmart/roberta_zh",
        "2020-01-01",
        "run_pretraining.py",
        PRETRAIN + "--bert_config_file={data}/config.json",
    ),
    "ALBERT zh, pre-training": _program(
        "brightmart/albert_zh",
        "2020-01-01",
        "run_pretraining.py",
        PRETRAIN + "--bert_config_file={data}/config.json",
    ),
    "RoBERTa zh, run_classifier": _program(
        "brightmart/roberta_zh",
        "2020-01-01",
        "run_classifier.py",
        LCQMC.replace("=cola", "=lcqmc_pair"),
    ),
    "ALBERT zh, run_classifier": _program(
        "brightmart/albert_zh", "2020-01-01", "run_classifier.py", LCQMC.replace("=cola", "=lcqmc")
    ),
    "ELECTRA, pre-training": _program(
        "google-research/electra",
        "2020-06-01",
        "build_pretraining_dataset.py ;; run_pretraining.py",
        "--corpus-dir {data}/text --vocab-file {data}/vocabulary.txt "
        "--output-dir {out}/pretrain_tfrecords "
        "--max-seq-length 64 ;; --data-dir {out} --model-name tiny "
        "--hparams {data}/electra.json",
    ),
    "ELECTRA, run_finetuning": _program(
        "google-research/electra",
        "2020-06-01",
        "run_finetuning.py",
        "--data-dir {data}/electra --model-name tiny --hparams {data}/electra/tuned.json",
    ),
    "XLNet, pre-training": _program(
        "zihangdai/xlnet",
        "2019-12-16",
        "data_utils.py ;; train.py",
        XLNET,
        needs="NumPy before 1.24, or 2: it asks for `numpy.bool`",
    ),
    "XLNet, run_classifier": _program(
        "zihangdai/xlnet",
        "2019-12-16",
        "run_classifier.py",
        XLNET_TASK + "--task_name=yelp5 --data_dir={data}/yelp --train_steps=4",
    ),
    "XLNet, run_race": _program(
        "zihangdai/xlnet",
        "2019-12-16",
        "run_race.py",
        XLNET_TASK + "--data_dir={data}/RACE --max_qa_length=24 --train_steps=4",
    ),
    "XLNet, run_squad": _program(
        "zihangdai/xlnet",
        "2019-12-16",
        "run_squad.py ;; run_squad.py",
        XLNET_SQUAD + "--do_prepro=True ;; " + XLNET_SQUAD + "--do_train=True --do_predict=True "
        "--train_batch_size=16 --predict_batch_size=16 --train_steps=4 --use_tpu=True --tpu=any "
        "--num_core_per_host=8 --iterations=2 --save_steps=4 --warmup_steps=1",
    ),
    "Transformer-XL, enwik8": _program(
        "kimiyoung/transformer-xl",
        "2019-05-01",
        "tf/data_utils.py ;; tf/train.py",
        "--data_dir={data}/enwik8 --dataset=enwik8 --tgt_len=16 --per_host_train_bsz=16 "
        "--per_host_valid_bsz=16 --num_core_per_host=8 --num_passes=1 --use_tpu=True ;; "
        "--data_dir={data}/enwik8/tfrecords --record_info_dir={data}/enwik8/tfrecords "
        "--corpus_info_path={data}/enwik8/corpus-info.json --model_dir={out}/model --n_layer=2 "
        "--d_model=16 --d_embed=16 --n_head=2 --d_head=8 --d_inner=32 --learning_rate=0.00025 "
        "--warmup_steps=1 --train_steps=4 --tgt_len=16 --mem_len=16 --train_batch_size=16 "
        "--use_tpu=True --tpu=any --num_host=1 --num_core_per_host=8 --iterations=2 "
        "--save_steps=4",
    ),
    "Funnel-Transformer, pre-training": _program(
        "laiguokun/Funnel-Transformer",
        "2020-06-08",
        "tensorflow/create_pretrain_data.py ;; tensorflow/pretrain.py",
        "--seq_len=32 --input_glob={data}/text/*.txt --save_dir={out}/data "
        "--tokenizer_path={data}/funnel.txt ;; --tokenizer_path={data}/funnel.txt "
        "--record_dir={out}/data --model_dir={out}/model --train_batch_size=16 "
        "--block_size=1_1 --d_model=16 --d_embed=16 --n_head=2 --d_head=8 --d_inner=32 "
        "--num_core_per_host=8 --seq_len=32 --num_predict=5 --train_steps=4 --iterations=2 "
        "--save_steps=4 --tpu=any",
    ),
    "Funnel-Transformer, classifier": _program(
        "laiguokun/Funnel-Transformer",
        "2020-06-08",
        "tensorflow/classifier.py",
        "--tokenizer_path={data}/funnel.txt --data_dir={data}/cola --task_name=cola "
        "--output_dir={out}/records --model_dir={out}/model --do_train=True --do_eval=True "
        "--do_submit=True --train_batch_size=16 --eval_batch_size=16 --predict_batch_size=16 "
        "--max_seq_length=32 --block_size=1_1 --d_model=16 --d_embed=16 --n_head=2 --d_head=8 "
        "--d_inner=32 --use_tpu=True --tpu=any --num_core_per_host=8 --train_steps=4 "
        "--iterations=2 --save_steps=4",
    ),
    "Grover, lm/train": _program("rowanz/grover", "2020-06-01", "lm/train.py", GROVER),
    "GPT2-ML, train_tpu": _program("imcaspar/gpt2-ml", "2021-02-01", "train/train_tpu.py", GROVER),
    "GPT2 on TPUs": _program(
        "ConnorJL/GPT2", "2019-12-01", "main.py", "--tpu any --model here:gpt2.json"
    ),
    "UDA, text": _program(
        "google-research/uda",
        "2020-03-01",
        "text/main.py",
        "--use_tpu=True --tpu_name=any --do_train=True --do_eval=False --task_name=IMDB "
        "--sup_train_data_dir={data}/uda/sup --unsup_data_dir={data}/uda/unsup "
        "--bert_config_file={data}/config.json --vocab_file={data}/vocabulary.txt "
        "--model_dir={out} --max_seq_length=64 --num_train_steps=4 --num_warmup_steps=1 "
        "--train_batch_size=8 --eval_batch_size=8 --unsup_ratio=0 --iterations_per_loop=2 "
        "--save_checkpoints_num=1 --learning_rate=2e-05",
        not_for="1.15 2.2 2.15 2.21",
        needs="Python 2: it asks for `long`",
    ),
    "BioBERT, run_re": _program("dmis-lab/biobert", "2020-06-01", "run_re.py", COLA),
    "BioBERT, run_qa": _program("dmis-lab/biobert", "2020-06-01", "run_qa.py", SQUAD),
    "BioBERT, pre-training": _program(
        "dmis-lab/biobert",
        "2020-06-01",
        "run_pretraining.py",
        PRETRAIN + "--bert_config_file={data}/config.json",
    ),
    "BERT for MS MARCO": _program(
        "nyu-dl/dl4marco-bert",
        "2020-06-01",
        "run_msmarco.py",
        "--data_dir={data}/marco --bert_config_file={data}/config.json --output_dir={out} "
        "--max_seq_length=32 --do_train=True --do_eval=False --train_batch_size=16 "
        "--save_checkpoints_steps=4 --use_tpu=True --tpu_name=any --init_checkpoint= " + STEPS,
    ),
    "CLUE, BERT pre-training": _program(
        "CLUEbenchmark/CLUE",
        "2020-12-01",
        "baselines/models/bert/run_pretraining.py",
        PRETRAIN + "--bert_config_file={data}/config.json",
    ),
    "CLUE, ALBERT pre-training": _program(
        "CLUEbenchmark/CLUE",
        "2020-12-01",
        "baselines/models/albert/run_pretraining.py",
        PRETRAIN + "--bert_config_file={data}/config.json",
    ),
    "CLUE, BERT run_classifier": _program(
        "CLUEbenchmark/CLUE", "2020-12-01", "baselines/models/bert/run_classifier.py", TNEWS
    ),
    "CLUE, ALBERT run_classifier": _program(
        "CLUEbenchmark/CLUE", "2020-12-01", "baselines/models/albert/run_classifier.py", TNEWS
    ),
    "BlueBERT, run_bluebert": _program(
        "ncbi-nlp/bluebert",
        "2020-06-01",
        "bluebert/run_bluebert.py",
        COLA.replace("cola", "chemprot"),
    ),
    "BlueBERT, multi_labels": _program(
        "ncbi-nlp/bluebert",
        "2020-06-01",
        "bluebert/run_bluebert_multi_labels.py",
        COLA.replace("cola", "hoc") + " --num_classes=20 --num_aspects=10 --aspect_value_list=0,1",
    ),
    "BlueBERT, sts": _program(
        "ncbi-nlp/bluebert", "2020-06-01", "bluebert/run_bluebert_sts.py", STS
    ),
    "BlueBERT, pre-training": _program(
        "ncbi-nlp/bluebert",
        "2020-06-01",
        "bert/run_pretraining.py",
        PRETRAIN + "--bert_config_file={data}/config.json",
    ),
    "BioASQ-BioBERT, run_factoid": _program(
        "dmis-lab/bioasq-biobert", "2020-06-01", "run_factoid.py", SQUAD
    ),
    "BioASQ-BioBERT, run_yesno": _program(
        "dmis-lab/bioasq-biobert",
        "2020-06-01",
        "run_yesno.py",
        SQUAD.replace("squad.json", "yesno.json"),
        not_for="1.15 2.2 2.15 2.21",
        needs=_HOOK,
    ),
    "BioASQ-BioBERT, run_list": _program(
        "dmis-lab/bioasq-biobert",
        "2020-06-01",
        "run_list.py",
        SQUAD,
        not_for="1.15 2.2 2.15 2.21",
        needs=_HOOK,
    ),
    "BERT as a language model": _program(
        "xu-song/bert-as-language-model",
        "2020-06-01",
        "run_lm_predict.py",
        "--input_file={data}/lines.txt --vocab_file={data}/vocabulary.txt "
        "--bert_config_file={data}/config.json --output_dir={out}/model --max_seq_length=64 "
        "--predict_batch_size=16 --use_tpu=True --tpu_name=any",
        not_for="1.15 2.2 2.15 2.21",
        needs="no TPU: its TPUEstimator has no train_batch_size",
    ),
    "BERT-NER": _program(
        "kyzhouhzau/BERT-NER",
        "2020-06-01",
        "BERT_NER.py",
        BERT.replace("/model", "")
        + "--task_name=NER --data_dir={data}/ner --crf=False --do_train=True "
        "--do_predict=True --eval_batch_size=16 --predict_batch_size=16 --num_train_epochs=1 "
        "--use_tpu=True --tpu_name=any --iterations_per_loop=2 --middle_output={out} "
        "--init_checkpoint={data}/bert-model/model.ckpt",
        needs="google-research/bert in its folder",
        clones="google-research/bert",
    ),
    "LaserTagger": _program(
        "google-research/lasertagger",
        "2020-06-01",
        "run_lasertagger.py",
        "--training_file={data}/tagger.tfrecord --eval_file={data}/tagger.tfrecord "
        "--label_map_file={data}/tags.txt --model_config_file={data}/tagger.json "
        "--output_dir={out}/model --max_seq_length=64 --do_train=True --do_eval=True "
        "--train_batch_size=16 --eval_batch_size=16 --num_train_epochs=1 "
        "--num_train_examples=64 --num_eval_examples=64 --eval_timeout=2 "
        "--save_checkpoints_steps=4 --iterations_per_loop=2 --use_tpu=True --tpu_name=any",
        needs="google-research/bert in its folder",
        clones="google-research/bert",
    ),
    "XLNet zh, run_classifier": _program(
        "brightmart/xlnet_zh",
        "2020-01-01",
        "src/run_classifier.py",
        XLNET_TASK + "--task_name=lcqmc --data_dir={data}/lcqmc --num_train_epochs=1",
    ),
    "Mesh TensorFlow, toy model": _program(
        "tensorflow/mesh",
        "2020-06-01",
        "examples/toy_model_tpu.py",
        "--tpu=any --train_steps=4 --iterations=2 --steps_per_checkpoint=4 --model_dir={out}",
        not_for="1.15 2.2 2.15 2.21",
        needs="a TPU: it places the slices of its variables on the cores itself",
    ),
    "BoolQ": _program(
        "google-research/language",
        "2020-09-01",
        "language/boolq/run_bert_boolq.py",
        BERT
        + "--boolq_train_data_path={data}/boolq.jsonl --boolq_dev_data_path={data}/boolq.jsonl "
        "--do_train=True --do_eval_dev=True --eval_batch_size=16 --num_train_epochs=1 "
        "--use_tpu=True --tpu_name=any --save_checkpoints_steps=4 --iterations_per_loop=2",
        needs="google-research/bert in its folder",
        clones="google-research/bert",
    ),
    "Tensor2Tensor, t2t_trainer": _program(
        "tensorflow/tensor2tensor",
        "2020-06-01",
        "tensor2tensor/bin/t2t_trainer.py",
        "--generate_data --problem=algorithmic_reverse_binary40_test --model=transformer "
        "--hparams_set=transformer_tiny --hparams=batch_size=16,max_length=64 --use_tpu "
        "--cloud_tpu_name=any --data_dir={out}/data --tmp_dir={out}/tmp --output_dir={out}/model "
        "--train_steps=4 --iterations_per_loop=2 --eval_steps=1 --schedule=train",
        needs="gym 0.14 and dopamine-rl",
    ),
}
